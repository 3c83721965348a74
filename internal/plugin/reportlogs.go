// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/provision"
)

// What a report takes of a log: its end. A longer line counts as several.
const maxLogLines, maxLogBytes, maxLogLine = 20_000, 4 << 20, 1 << 20

// logs adds the logs of the manager's pods.
func (b *bundle) logs(ctx context.Context, from *cluster, core corev1client.PodsGetter, namespace string) {
	pods := &corev1.PodList{}
	if err := from.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabels{"app.kubernetes.io/name": "windlass"}); err != nil {
		b.missed("the manager's pods", err)
		return
	}
	if len(pods.Items) == 0 {
		b.unseen = append(b.unseen, "no pod in namespace "+namespace+" has the label app.kubernetes.io/name=windlass")
	}
	for i := range pods.Items {
		b.pod(ctx, core, &pods.Items[i])
	}
}

// pod adds the state and the log of a pod, and the log from before it was started again: there is why.
func (b *bundle) pod(ctx context.Context, core corev1client.PodsGetter, pod *corev1.Pod) {
	b.yaml("manager/"+pod.Name+".yaml", pod.Status.ContainerStatuses)
	container := ours(pod)
	b.log(ctx, core, pod, container, "")
	if slices.ContainsFunc(pod.Status.ContainerStatuses, func(of corev1.ContainerStatus) bool { return of.Name == container && of.RestartCount > 0 }) {
		b.log(ctx, core, pod, container, ".previous")
	}
}

// ours returns the name of the container that Windlass runs in. Others are put beside it, as proxies of a mesh are, and then the API server wants
// to be told which one is meant.
func ours(pod *corev1.Pod) string {
	for _, name := range []string{"manager", "gateway", pod.Annotations["kubectl.kubernetes.io/default-container"]} {
		if slices.ContainsFunc(pod.Spec.Containers, func(of corev1.Container) bool { return of.Name == name }) {
			return name
		}
	}
	if len(pod.Spec.Containers) == 0 {
		return ""
	}
	return pod.Spec.Containers[0].Name
}

// log adds the end of a log. The kubelet would count a limit of bytes from the first of the lines, and leave the newest out.
func (b *bundle) log(ctx context.Context, core corev1client.PodsGetter, pod *corev1.Pod, container, which string) {
	name := pod.Name + which
	options := &corev1.PodLogOptions{Container: container, TailLines: new(int64(maxLogLines)), Previous: which != ""}
	stream, err := core.Pods(pod.Namespace).GetLogs(pod.Name, options).Stream(ctx)
	if err != nil {
		b.missed("the log of "+name, err)
		return
	}
	defer func() { _ = stream.Close() }()
	end, cut, err := endOf(stream)
	b.missed("the log of "+name, err)
	if cut {
		b.unseen = append(b.unseen, fmt.Sprintf("the beginning of the log of %s: the report has at most its last %d lines and %d MiB", name, maxLogLines, maxLogBytes>>20))
	}
	b.add("manager/"+name+".log", end)
}

// endOf returns the end of a log without its secrets, and whether the log has more. Secrets are removed from its beginning on, because the end can
// begin within one.
func endOf(log io.Reader) (end []byte, cut bool, err error) {
	lines, secrets := bufio.NewReaderSize(log, maxLogLine), provision.NewRedactor()
	count := 0
	for err == nil {
		var line []byte
		line, err = lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			err = nil
		}
		content, whole := bytes.CutSuffix(line, []byte("\n"))
		end = append(end, printable(secrets.Line(string(content)))...)
		if whole {
			end = append(end, '\n')
			count++
		}
		if len(end) > 2*maxLogBytes {
			end, cut = lastLines(end), true
		}
	}
	if len(end) > maxLogBytes {
		end, cut = lastLines(end), true
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return end, cut || count >= maxLogLines, err
}

// lastLines returns the lines of which a report has room, in the memory of the text.
func lastLines(text []byte) []byte {
	last := text[len(text)-maxLogBytes:]
	if at := bytes.IndexByte(last, '\n'); at >= 0 {
		last = last[at+1:]
	}
	return text[:copy(text, last)]
}
