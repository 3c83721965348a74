// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/diff"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/kube"
)

type diffOutput struct{ Body *diff.Difference }

// registerDiff registers the routes that tell what a write of an object would change. A write and its difference have the same method, parameters
// and body.
func (a *API) registerDiff(k *feed.Kind) {
	told := func() map[int]*huma.Response {
		return map[int]*huma.Response{http.StatusOK: {Description: "What the write would change", Headers: carries()}}
	}
	const about = "Asks the API server for a dry run, as the caller, and stores nothing. Takes the rights to read the object and to write it."
	put := takesBody(k, operation(k, "diff-apply", http.MethodPut, objectPath(k, "/diff"), "What applying or replacing one would change", told()), mediaJSON, mediaYAML)
	put.Description = about
	handle(a, put, func(ctx context.Context, in *applyInput) (*diffOutput, error) { return a.diffPut(ctx, k, in) })
	patch := takesBody(k, operation(k, "diff-patch", http.MethodPatch, objectPath(k, "/diff"), "What a patch would change", told()))
	patch.Metadata[metaBody], patch.Description = patchBodies(k), about
	handle(a, patch, func(ctx context.Context, in *patchInput) (*diffOutput, error) {
		in.DryRun = dryRunAll
		return a.difference(ctx, k, &in.Target, func() (*access.Result, error) {
			_, answer, err := a.patch(ctx, k, in)
			return answer, err
		})
	})
}

// diffPut tells what applying or replacing an object would change. An apply that conflicts with other managers is also tried with force, so
// that the caller sees what they would take over.
func (a *API) diffPut(ctx context.Context, k *feed.Kind, in *applyInput) (*diffOutput, error) {
	in.DryRun = dryRunAll
	var refused *view.Problem
	forced := in.Force
	out, err := a.difference(ctx, k, &in.Target, func() (*access.Result, error) {
		refused, in.Force = nil, forced
		_, answer, err := a.put(ctx, k, in)
		if problem, ok := errors.AsType[*view.Problem](err); ok && !in.Replace && problem.Status == http.StatusConflict && len(problem.Errors) > 0 {
			refused = problem
			in.Force = true
			_, answer, err = a.put(ctx, k, in)
		}
		return answer, err
	})
	if err != nil || refused == nil {
		return out, err
	}
	for _, conflict := range refused.Errors {
		out.Body.Conflicts = append(out.Body.Conflicts, diff.FieldConflict{
			Path: conflict.Location, Manager: conflict.Parameters["manager"], Message: conflict.Message,
		})
	}
	return out, nil
}

// difference reads the object as the caller, tries the write, and compares.
func (a *API) difference(ctx context.Context, k *feed.Kind, of *Target, try func() (*access.Result, error)) (*diffOutput, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	var before []byte
	var answer *access.Result
	var changed bool
	err = kube.DecideAnew(func() (outdated bool, err error) { // what others write in between would seem to be part of the write
		if before, err = a.current(ctx, who, k, of); err != nil {
			return false, err
		}
		if answer, err = try(); err != nil {
			return false, err
		}
		changed = before != nil && versionOf(before) != versionOf(answer.Body)
		return changed, nil
	})
	if err != nil {
		return nil, err
	}
	if changed {
		return nil, changedMeanwhile()
	}
	told, err := diff.Between(before, answer.Body)
	return &diffOutput{told}, err
}
