// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"mime"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	corev1 "k8s.io/api/core/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/action"
	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

type downloadInput struct {
	PinInput
	Target
}

// registerDownload registers the route that hands out the kubeconfig of a Kubeconfig. It is a POST, so that no page, cache or
// browser asks for it without being told to.
func (a *API) registerDownload(k *feed.Kind) {
	text := map[int]*huma.Response{http.StatusOK: {
		Description: "The kubeconfig as an attachment, which is not stored anywhere",
		Content:     map[string]*huma.MediaType{mediaYAML: {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	op := operation(k, "download", http.MethodPost, objectPath(k, "/download"), "Download the kubeconfig", text)
	op.Description = "It reads the Secret that the status names with the rights of the caller, who needs get on it, if Windlass has " +
		"written it for this very Kubeconfig or, of type Admin, for its Cluster."
	handle(a, op, func(ctx context.Context, in *downloadInput) (*huma.StreamResponse, error) {
		return a.download(ctx, k, in)
	})
}

// download answers with a kubeconfig, and leaves a line in the log.
func (a *API) download(ctx context.Context, k *feed.Kind, in *downloadInput) (*huma.StreamResponse, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	c := access.Call{Method: http.MethodPost, Path: k.Path("", in.name, "")}
	content, err := a.kubeconfigOf(ctx, who, c.Path, in.UID)
	answer := &access.Result{Status: http.StatusOK}
	if err != nil {
		answer = nil
	}
	a.audit(ctx, who, k, "", in.name, c, answer, err, "action", "download")
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", mediaYAML)
		ctx.SetHeader("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": in.name + ".kubeconfig"}))
		ctx.SetStatus(http.StatusOK)
		// A caller that has left cannot be answered.
		_, _ = ctx.BodyWriter().Write(content)
	}}, nil
}

// kubeconfigOf reads the kubeconfig of the Kubeconfig at the path, from a Secret of its own.
func (a *API) kubeconfigOf(ctx context.Context, who *access.Caller, path, uid string) ([]byte, error) {
	config, err := readAs[clusterprovisionerv1alpha1.Kubeconfig](ctx, a, who, path)
	if err != nil {
		return nil, err
	}
	if uid != "" && string(config.UID) != uid {
		return nil, wasReplaced(string(config.UID))
	}
	ref, err := action.SecretOf(config)
	if err != nil {
		return nil, err
	}
	secret, err := readAs[corev1.Secret](ctx, a, who,
		view.ResourcePath(corev1.SchemeGroupVersion.WithResource("secrets"), ref.Namespace, ref.Name, ""))
	if err != nil {
		return nil, err
	}
	return action.KubeconfigOf(config, secret)
}
