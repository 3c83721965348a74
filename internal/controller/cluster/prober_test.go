// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
)

// An interval of a nanosecond, from before the schema refused it, made the manager probe without a pause.
func TestAttackProbesWithoutAPause(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ spec, want time.Duration }{
		"none":           {0, 15 * time.Second},
		"a nanosecond":   {1, time.Second},
		"less than none": {-time.Hour, time.Second},
		"a minute":       {time.Minute, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := clusterprovisionerv1alpha1.Health{Interval: metav1.Duration{Duration: test.spec}}
			if got := interval(spec); got != test.want {
				t.Errorf("the interval is %s, want %s", got, test.want)
			}
		})
	}
}
