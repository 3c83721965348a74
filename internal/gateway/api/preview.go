// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"

	"github.com/danielgtaylor/huma/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/inquiry"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/membership"
)

type previewInput struct {
	Target

	ContentType string `header:"Content-Type" doc:"application/json or application/yaml"`
	RawBody     []byte
}

type previewOutput struct{ Body view.PoolPreview }

// registerPreview registers the route that says what a change of a NodePool would do.
func (a *API) registerPreview(pools *feed.Kind) {
	op := operation(pools, "preview", http.MethodPost, objectPath(pools, "/preview"), "Say what a change would do to nodes and pods", map[int]*huma.Response{
		http.StatusOK: {Description: "What would follow", Headers: carries(headerAge, headerWarning)},
	})
	op.Description = "The body is the pool as it would be, which may not exist yet. Its spec takes the place of the present one, and its annotations are added. The API server " +
		"checks it in a dry run with the rights of the caller, who has to be able to update it (or create it), and to list NodePools and nodes. Nothing is written."
	handle(a, takesBody(pools, op, mediaJSON, mediaYAML), func(ctx context.Context, in *previewInput) (*previewOutput, error) {
		return a.preview(ctx, pools, in)
	})
}

// preview asks the API server what the pool would be, and the engine of the controllers what follows from that.
func (a *API) preview(ctx context.Context, pools *feed.Kind, in *previewInput) (*previewOutput, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	nodeKind, _ := a.Hub.Kind(nodesPlural) // the table of kinds has it
	if err := a.mayPreview(ctx, who, pools, nodeKind); err != nil {
		return nil, err
	}
	wanted, creates, err := a.rehearse(ctx, who, pools, in)
	if err != nil {
		return nil, err
	}
	leave, err := a.survey(ctx, who)
	if err != nil {
		return nil, err
	}
	defer leave()
	all, because, err := a.poolsFor(ctx, who)
	if err != nil {
		return nil, err
	}
	items, noNodes, err := a.all(ctx, who, nodeKind, "")
	if err != nil {
		return nil, err
	}
	if hidden := because + noNodes; hidden != "" { // a right that was taken away meanwhile
		return nil, noPreview(hidden)
	}
	if all[wanted.Name], err = membership.NewPool(wanted); err != nil {
		return nil, fieldErrors(&view.FieldError{Location: "body.spec", Message: err.Error()})
	}
	nodes, err := nodesOf(items, "")
	if err != nil {
		return nil, err
	}
	forecast := membership.NewForecast(nodes, all, wanted.Name, a.Now())
	out := inquiry.Foreseen(forecast)
	out.Creates, out.DryRun = creates, wanted.Spec.DryRun
	if err := a.countEvicted(ctx, who, forecast, out); err != nil {
		return nil, err
	}
	return &previewOutput{Body: *out}, nil
}

// mayPreview returns the problem of a caller who may not list what a preview reads.
func (a *API) mayPreview(ctx context.Context, who *access.Caller, kinds ...*feed.Kind) error {
	for _, k := range kinds {
		because, err := a.unlisted(ctx, who, k, "")
		if err != nil {
			return err
		}
		if because != "" {
			return noPreview(because)
		}
	}
	return nil
}

func noPreview(because string) *view.Problem {
	return forbidden(view.CodeOf(http.StatusForbidden), "A preview reads all NodePools and nodes: "+because+".")
}

// rehearse returns the pool as the API server would have it, and whether it does not exist yet.
func (a *API) rehearse(ctx context.Context, who *access.Caller, k *feed.Kind, in *previewInput) (*nodesv1.NodePool, bool, error) {
	media, err := mediaOf(in.ContentType)
	if err != nil {
		return nil, false, err
	}
	body, err := jsonOf(in.RawBody, media)
	if err != nil {
		return nil, false, unreadable(err)
	}
	given := map[string]any{}
	if err := json.Unmarshal(body, &given); err != nil {
		return nil, false, unreadable(err)
	}
	if given == nil {
		return nil, false, unreadable(errors.New("it is null, and not a NodePool"))
	}
	var answer *access.Result
	creates := false
	err = kube.DecideAnew(func() (outdated bool, err error) { // a pool that is being applied is counted twice a second
		answer, creates, err = a.tryPool(ctx, who, k, in.name, maps.Clone(given))
		return !creates && isOutdated(err), err
	})
	if err != nil {
		return nil, false, err
	}
	out := &nodesv1.NodePool{}
	if err := json.Unmarshal(answer.Body, out); err != nil {
		return nil, false, fmt.Errorf("cannot read pool %q: %w", in.name, err)
	}
	return out, creates, nil
}

// tryPool has the API server try the spec and the annotations that are given, on the pool as it is or on a new one.
func (a *API) tryPool(
	ctx context.Context, who *access.Caller, k *feed.Kind, name string, given map[string]any,
) (answer *access.Result, creates bool, err error) {
	c := access.Call{
		Method: http.MethodPost, Path: k.Path("", "", ""), ContentType: mediaJSON,
		Query: url.Values{"dryRun": {metav1.DryRunAll}, "fieldValidation": {"Strict"}, "fieldManager": {fieldManager}},
	}
	present, err := readAs[map[string]any](ctx, a, who, k.Path("", name, ""))
	problem, refused := errors.AsType[*view.Problem](err)
	creates = refused && problem.Status == http.StatusNotFound
	switch {
	case creates:
		metadata, _ := given["metadata"].(map[string]any)
		named := map[string]any{}
		maps.Copy(named, metadata)
		named["name"], given["metadata"] = name, named
	case err != nil:
		return nil, false, err
	default:
		c.Method, c.Path = http.MethodPut, k.Path("", name, "")
		given = inquiry.Replaced(*present, given)
	}
	if c.Body, err = json.Marshal(given); err != nil {
		return nil, false, fmt.Errorf("cannot encode pool %q: %w", name, err)
	}
	answer, err = a.Upstream.Do(ctx, who, c)
	return answer, creates, err
}

// countEvicted enters the running pods that new taints would delete, if the caller may list pods everywhere.
func (a *API) countEvicted(ctx context.Context, who *access.Caller, of *membership.Forecast, out *view.PoolPreview) error {
	taints := inquiry.Evicting(of)
	if len(taints) == 0 {
		return nil
	}
	items, because, err := a.all(ctx, who, a.pods, "")
	if out.PodsHidden = because; because != "" || err != nil {
		return err
	}
	for _, item := range items {
		coming := taints[item.Fields["spec.nodeName"]]
		if len(coming) == 0 || item.Deleting {
			continue
		}
		pod, err := decoded[corev1.Pod](item)
		if err != nil {
			return err
		}
		inquiry.CountEvicted(out, pod, coming)
	}
	return nil
}
