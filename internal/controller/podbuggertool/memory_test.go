// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/flow"
)

func TestPodsThatRefuseAToolLeaveTheirPlaces(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	pods, tool := schema.GroupResource{Resource: "pods"}, client.ObjectKey{Namespace: "shop", Name: "probe"}
	insecure := apierrors.NewForbidden(pods, "web-1", errors.New(`violates PodSecurity "baseline:latest"`))
	withoutRight := apierrors.NewForbidden(pods, "web-1", errors.New(`User "windlass" cannot patch resource "pods/ephemeralcontainers"`))
	for sentence, tt := range map[string]struct {
		err   error
		many  int
		later time.Duration
		want  int
	}{
		"the pod does":                            {err: insecure, many: 1, want: 1},
		"until the refusal is tried again":        {err: insecure, many: 1, later: flow.RecheckStalled, want: 0},
		"not if Windlass lacks the right":         {err: withoutRight, many: 1, want: 0},
		"many pods do":                            {err: insecure, many: maxPassedOver, want: maxPassedOver},
		"not if too many do, as all others would": {err: insecure, many: maxPassedOver + 1, want: 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			var kept memory
			for number := range tt.many {
				kept.refused(tool, types.UID(fmt.Sprint("uid-", number)), "probe-1", tt.err, start)
			}
			kept.refused(tool, "uid-of-an-earlier-container", "probe-0", tt.err, start)
			if diff := cmp.Diff(tt.want, len(kept.passedOver(tool, "probe-1", start.Add(tt.later)))); diff != "" {
				t.Errorf("pods that leave their places (-want +got):\n%s", diff)
			}
		})
	}
}
