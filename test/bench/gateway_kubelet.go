// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
)

const (
	// logPods pods write logs, each so many lines a second: 10,000 together.
	logPods        = 50
	linesPerSecond = 200
	// logWindow is how long a round of lines lasts.
	logWindow    = 5 * time.Second
	linesOfRound = int(linesPerSecond * logWindow / time.Second)

	logNamespace  = "team-00"
	logDeployment = "logger"
	logHash       = "bench"
	logContainer  = "web"
	logNode       = "logger-node"
)

// logKubelet is a node for the API server. It serves logs as a kubelet does, and writes their lines itself.
type logKubelet struct {
	server  *http.Server
	address netip.AddrPort
	// opened counts the logs that have been opened.
	opened atomic.Int64
	// rounds tell the log of each pod when a round of lines begins. A log ends when its channel is closed.
	rounds map[string]chan time.Time
}

// startLogKubelet serves the logs until the server is closed.
func startLogKubelet(ctx context.Context) (*logKubelet, error) {
	// The API server does not check the certificates of kubelets unless it is told whose they are.
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		return nil, fmt.Errorf("cannot make a certificate for the kubelet: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("cannot read the certificate of the kubelet: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	k := &logKubelet{rounds: map[string]chan time.Time{}}
	if k.address, err = netip.ParseAddrPort(listener.Addr().String()); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot find the address of the kubelet: %w", err), listener.Close())
	}
	for i := range logPods {
		k.rounds[logPodName(i)] = make(chan time.Time, 1)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", k.serve)
	k.server = &http.Server{
		Handler: mux, ReadHeaderTimeout: time.Minute,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13},
	}
	go func() { _ = k.server.ServeTLS(listener, "", "") }()
	return k, nil
}

// write begins a round of lines in all logs, after all lines of the round before have arrived.
func (k *logKubelet) write(begun time.Time) {
	for i := range logPods {
		// Pods do not write at the same moment.
		k.rounds[logPodName(i)] <- begun.Add(time.Duration(i) * time.Second / linesPerSecond / logPods)
	}
}

// end ends all logs.
func (k *logKubelet) end() {
	for _, rounds := range k.rounds {
		close(rounds)
	}
}

// serve writes the lines of a pod, for a reader who follows them and wants their times.
func (k *logKubelet) serve(w http.ResponseWriter, r *http.Request) {
	pod, query := r.PathValue("pod"), r.URL.Query()
	rounds, known := k.rounds[pod]
	if !known || query.Get("follow") != "true" || query.Get("timestamps") != "true" {
		http.Error(w, "only the logs of the bench are served, followed and with timestamps", http.StatusBadRequest)
		return
	}
	if http.NewResponseController(w).Flush() != nil {
		return
	}
	k.opened.Add(1)
	for first := 0; ; first += linesOfRound {
		select {
		case begun, more := <-rounds:
			if !more || writeLines(r.Context(), w, pod, first, begun) != nil {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}

// writeLines writes the lines of a round, one at a time as kubelets do. The time of a line is when it is due: a container writes whether
// or not its log is read, so time that a line spends waiting for a slow reader counts.
func writeLines(ctx context.Context, w http.ResponseWriter, pod string, first int, begun time.Time) error {
	control := http.NewResponseController(w)
	for i := range linesOfRound {
		at := begun.Add(time.Duration(i) * time.Second / linesPerSecond)
		if err := pause(ctx, time.Until(at)); err != nil {
			return err
		}
		line := append(at.UTC().AppendFormat(nil, time.RFC3339Nano), ' ')
		line = append(append(line, logText(pod, first+i)...), '\n')
		if _, err := w.Write(line); err != nil {
			return err
		}
		if err := control.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// logText is a line of a pod, as long as one of an access log. No two are alike.
func logText(pod string, number int) []byte {
	return fmt.Appendf(nil, `10.0.3.17 - %s "GET /api/v1/orders/%d?fields=state,items HTTP/1.1" 200 5316 "-" "Mozilla/5.0 (X11; Linux x86_64)" 0.%03d end`,
		pod, number, number%1000)
}

func logPodName(i int) string { return fmt.Sprintf("%s-%s-%02d", logDeployment, logHash, i) }

// addLogPods creates the pods of a Deployment, with their owners, on the node that the kubelet stands for.
func (r *controlPlane) addLogPods(ctx context.Context, kubelet *logKubelet) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: logNode}}
	if err := r.Client.Create(ctx, node); err != nil {
		return fmt.Errorf("cannot create node %q: %w", node.Name, err)
	}
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: kubelet.address.Addr().String()}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(kubelet.address.Port())
	if err := r.Client.Status().Update(ctx, node); err != nil {
		return fmt.Errorf("cannot report the status of node %q: %w", node.Name, err)
	}
	deployment, set := logOwners()
	if err := r.Client.Create(ctx, deployment); err != nil {
		return fmt.Errorf("cannot create Deployment %q: %w", deployment.Name, err)
	}
	set.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
	if err := r.Client.Create(ctx, set); err != nil {
		return fmt.Errorf("cannot create ReplicaSet %q: %w", set.Name, err)
	}
	return forEach(ctx, writers, logPods, func(ctx context.Context, i int) error {
		return r.addLogPod(ctx, logPodName(i), set)
	})
}

// logOwners returns a Deployment and its ReplicaSet.
func logOwners() (*appsv1.Deployment, *appsv1.ReplicaSet) {
	labels := map[string]string{"app": logDeployment}
	deployment := gatewayDeployment(0)
	deployment.ObjectMeta = metav1.ObjectMeta{Namespace: logNamespace, Name: logDeployment, Labels: labels}
	deployment.Spec.Replicas, deployment.Spec.Selector = new(int32(logPods)), &metav1.LabelSelector{MatchLabels: labels}
	deployment.Spec.Template.Labels = labels
	hashed := map[string]string{"app": logDeployment, appsv1.DefaultDeploymentUniqueLabelKey: logHash}
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: logNamespace, Name: logDeployment + "-" + logHash, Labels: hashed},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: deployment.Spec.Replicas, Selector: &metav1.LabelSelector{MatchLabels: hashed}, Template: *deployment.Spec.Template.DeepCopy(),
		},
	}
	set.Spec.Template.Labels = hashed
	return deployment, set
}

// addLogPod creates a pod of the ReplicaSet whose container runs.
func (r *controlPlane) addLogPod(ctx context.Context, name string, set *appsv1.ReplicaSet) error {
	pod := gatewayPod(0)
	pod.ObjectMeta = metav1.ObjectMeta{
		Namespace: set.Namespace, Name: name, Labels: set.Spec.Template.Labels,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))},
	}
	pod.Spec.NodeName, pod.Spec.Containers[0].Name = logNode, logContainer
	if err := r.Client.Create(ctx, pod); err != nil {
		return fmt.Errorf("cannot create pod %q: %w", name, err)
	}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: logContainer, ContainerID: "bench://" + name, Image: pod.Spec.Containers[0].Image, Ready: true,
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
	}}
	if err := r.Client.Status().Update(ctx, pod); err != nil {
		return fmt.Errorf("cannot report the status of pod %q: %w", name, err)
	}
	return nil
}
