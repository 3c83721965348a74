// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
)

// Attach runs a command in the container of a run's Pod, until it ends, and copies what it prints. It must end with an error when the
// writer refuses more.
type Attach func(ctx context.Context, pod string, command []string, out io.Writer) error

// attachTimeout limits a command in a Pod. None of them waits for anything.
const attachTimeout = 30 * time.Second

// maxComplaint bounds what a command in a Pod says when it fails, in bytes.
const maxComplaint = 1024

// NewAttach returns an Attach that goes through pods/exec in the namespace. It uses SPDY, whose requests are a "create"; with WebSockets they
// would also be a "get".
func NewAttach(config *rest.Config, namespace string) (Attach, error) {
	pods, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client for commands in Pods: %w", err)
	}
	return func(ctx context.Context, pod string, command []string, out io.Writer) error {
		request := pods.RESTClient().Post().Namespace(namespace).Resource("pods").Name(pod).SubResource("exec").
			VersionedParams(&corev1.PodExecOptions{Container: container, Command: command, Stdout: out != nil, Stderr: true}, scheme.ParameterCodec)
		executor, err := remotecommand.NewSPDYExecutor(config, "POST", request.URL())
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, attachTimeout)
		defer cancel()
		complaint := &bounded{limit: maxComplaint}
		if err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: out, Stderr: complaint}); err != nil {
			return fmt.Errorf("%w: %s", err, strings.TrimSpace(complaint.String()))
		}
		return nil
	}, nil
}

// bounded keeps what is written to it, and refuses what is too much.
type bounded struct {
	bytes.Buffer

	limit int
	// full says that more came than was kept.
	full bool
}

// Write implements io.Writer.
func (b *bounded) Write(raw []byte) (int, error) {
	if b.Len()+len(raw) > b.limit {
		b.full = true
		return 0, fmt.Errorf("%w: more than %d bytes", errTooLarge, b.limit)
	}
	return b.Buffer.Write(raw)
}
