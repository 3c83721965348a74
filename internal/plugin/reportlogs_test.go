// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// numbered are so many lines of the length, of which the last says that it is.
func numbered(count, length int) string {
	var out strings.Builder
	for i := range count - 1 {
		fmt.Fprintf(&out, "%0*d\n", length-1, i)
	}
	return out.String() + "the newest line\n"
}

func TestTheEndOfALogIsKept(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection reset")
	for name, test := range map[string]struct {
		log        io.Reader
		begins     string
		cut        bool
		problem    error
		most, less int
	}{
		"a log is there as a whole":             {log: strings.NewReader("one\ntwo\nthe newest line\n"), begins: "one\n", most: 24, less: 24},
		"the newest bytes of a long log":        {log: strings.NewReader(numbered(10_000, 1000)), begins: "0", cut: true, most: maxLogBytes, less: maxLogBytes - 1000},
		"lines that the kubelet has left out":   {log: strings.NewReader(numbered(maxLogLines, 10)), begins: "000000000\n", cut: true, most: maxLogBytes},
		"a line that is longer than the report": {log: strings.NewReader(strings.Repeat("x", 2*maxLogBytes+10) + "\nthe newest line\n"), begins: "the newest line", cut: true, most: 16},
		"a key that begins before the end": {
			log:    strings.NewReader("-----BEGIN KEY-----\n" + numbered(10_000, 1000) + "-----END KEY-----\nthe newest line\n"),
			begins: "[redacted]\n\n", most: 10_100,
		},
		"a log that breaks off": {
			log: io.MultiReader(strings.NewReader("one\nthe newest line\n"), iotest.ErrReader(broken)), begins: "one\n", problem: broken, most: 20,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			end, cut, err := endOf(test.log)
			if cut != test.cut || !errors.Is(err, test.problem) {
				t.Errorf("the log is cut: %t (%v), want %t (%v)", cut, err, test.cut, test.problem)
			}
			text := string(end)
			if !strings.HasPrefix(text, test.begins) || !strings.HasSuffix(text, "the newest line\n") || len(text) > test.most || len(text) < test.less {
				t.Errorf("%d bytes from %.20q to %q, want %d to %d from %q to the newest line", len(text), text, text[max(0, len(text)-20):], test.less, test.most, test.begins)
			}
		})
	}
}

// The report had the first 4 MiB of a long log, and nothing from before a restart.
func TestAReportHasTheNewestLinesAndThoseBeforeARestart(t *testing.T) {
	t.Parallel()
	kubelet := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Query().Get("previous") == "true":
			_, _ = io.WriteString(w, "panic: before\n")
		case r.URL.Query().Has("limitBytes"):
			_, _ = io.WriteString(w, "the oldest line\n")
		default:
			_, _ = io.WriteString(w, numbered(10_000, 1000))
		}
	}))
	defer kubelet.Close()
	core, err := corev1client.NewForConfig(&rest.Config{Host: kubelet.URL})
	must(t, err)
	var out bytes.Buffer
	into := newBundle(&out, time.Unix(0, 0))
	into.pod(t.Context(), core, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "windlass-system", Name: "windlass-0"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "manager"}}},
		Status:     corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "manager", RestartCount: 1}}},
	})
	must(t, into.close())
	files := unpacked(t, out.String())
	if log := files["manager/windlass-0.log"]; !strings.HasSuffix(log, "the newest line\n") {
		t.Errorf("the log ends with %q", log[max(0, len(log)-20):])
	}
	if log := files["manager/windlass-0.previous.log"]; log != "panic: before\n" {
		t.Errorf("the log before the restart is %q", log)
	}
	has(t, strings.Join(into.unseen, "\n"), "the beginning of the log of windlass-0: the report has at most its last 20000 lines and 4 MiB")
}

// A Pod had no log in the report once something had put a container of its own beside Windlass.
func TestAReportHasNoLogOfAPodWithASecondContainer(t *testing.T) {
	t.Parallel()
	kubelet := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		container, before := r.URL.Query().Get("container"), r.URL.Query().Get("previous")
		if container == "" {
			http.Error(w, "a container name must be specified", http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, container+before+"\n")
	}))
	defer kubelet.Close()
	core, err := corev1client.NewForConfig(&rest.Config{Host: kubelet.URL})
	must(t, err)
	for name, test := range map[string]struct {
		marked     string
		containers []string
		// again is the container that was started again.
		again string
		want  map[string]string
	}{
		"the manager":              {containers: []string{"proxy", "manager"}, again: "proxy", want: map[string]string{".log": "manager\n"}},
		"the manager of before":    {containers: []string{"proxy", "manager"}, again: "manager", want: map[string]string{".log": "manager\n", ".previous.log": "managertrue\n"}},
		"the gateway":              {containers: []string{"proxy", "gateway"}, marked: "proxy", want: map[string]string{".log": "gateway\n"}},
		"the one that kubectl has": {containers: []string{"proxy", "windlass"}, marked: "windlass", want: map[string]string{".log": "windlass\n"}},
		"the first of others":      {containers: []string{"windlass", "proxy"}, marked: "gone", want: map[string]string{".log": "windlass\n"}},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "infra", Name: "pod", Annotations: map[string]string{"kubectl.kubernetes.io/default-container": test.marked},
		}}
		for _, container := range test.containers {
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: container})
			state := corev1.ContainerStatus{Name: container}
			if container == test.again {
				state.RestartCount = 1
			}
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, state)
		}
		var out bytes.Buffer
		into := newBundle(&out, time.Unix(0, 0))
		into.pod(t.Context(), core, pod)
		must(t, into.close())
		got := map[string]string{}
		for path, content := range unpacked(t, out.String()) {
			if which, is := strings.CutPrefix(path, "manager/pod"); is && strings.HasSuffix(which, ".log") {
				got[which] = content
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: the logs differ (-want +got):\n%s%v", name, diff, into.unseen)
		}
	}
}
