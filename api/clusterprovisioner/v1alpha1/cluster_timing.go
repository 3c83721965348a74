// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Timeouts limit the runs of a tool.
type Timeouts struct {
	// Up limits one run that applies the configuration, to at least 1s. Default: 30m.
	// +optional
	// +kubebuilder:default="30m"
	// +kubebuilder:validation:XValidation:rule="self in ['0', '0s'] || self.matches('^([0-9]+([.][0-9]+)?(ns|us|µs|ms|s|m|h))+$') && duration(self) >= duration('1s')",message="must be a duration of at least 1s, such as 15s or 1m30s; 0s is the default"
	Up metav1.Duration `json:"up,omitempty"`

	// Remove limits one run that removes the cluster, to at least 1s. Default: 15m.
	// +optional
	// +kubebuilder:default="15m"
	// +kubebuilder:validation:XValidation:rule="self in ['0', '0s'] || self.matches('^([0-9]+([.][0-9]+)?(ns|us|µs|ms|s|m|h))+$') && duration(self) >= duration('1s')",message="must be a duration of at least 1s, such as 15s or 1m30s; 0s is the default"
	Remove metav1.Duration `json:"remove,omitempty"`

	// Grace is how long, at least 1s, a run that is stopped has to save its state before it is killed. Default: 2m.
	// +optional
	// +kubebuilder:default="2m"
	// +kubebuilder:validation:XValidation:rule="self in ['0', '0s'] || self.matches('^([0-9]+([.][0-9]+)?(ns|us|µs|ms|s|m|h))+$') && duration(self) >= duration('1s')",message="must be a duration of at least 1s, such as 15s or 1m30s; 0s is the default"
	Grace metav1.Duration `json:"grace,omitempty"`
}

// Retry says how a failed run is repeated: after Initial, then after twice as long each time, up to Max.
type Retry struct {
	// Attempts limits the runs for one configuration. After that, only a change of the configuration or the annotation
	// clusterprovisioner.rke.io/retry starts another one. A removal is repeated without end, with the same pauses. Default: 5.
	// +optional
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Attempts int32 `json:"attempts,omitempty"`

	// Initial is the pause after the first failure, at least 1s. Default: 30s.
	// +optional
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:XValidation:rule="self in ['0', '0s'] || self.matches('^([0-9]+([.][0-9]+)?(ns|us|µs|ms|s|m|h))+$') && duration(self) >= duration('1s')",message="must be a duration of at least 1s, such as 15s or 1m30s; 0s is the default"
	Initial metav1.Duration `json:"initial,omitempty"`

	// Max is the longest pause, at least 1s. Default: 30m.
	// +optional
	// +kubebuilder:default="30m"
	// +kubebuilder:validation:XValidation:rule="self in ['0', '0s'] || self.matches('^([0-9]+([.][0-9]+)?(ns|us|µs|ms|s|m|h))+$') && duration(self) >= duration('1s')",message="must be a duration of at least 1s, such as 15s or 1m30s; 0s is the default"
	Max metav1.Duration `json:"max,omitempty"`
}

// What zero stands for: the defaults of the fields, for objects that were written without them.
const (
	DefaultUpTimeout      = 30 * time.Minute
	DefaultRemoveTimeout  = 15 * time.Minute
	DefaultGrace          = 2 * time.Minute
	DefaultAttempts       = 5
	DefaultRetryInitial   = 30 * time.Second
	DefaultRetryMax       = 30 * time.Minute
	DefaultHealthInterval = 15 * time.Second
	DefaultHealthTimeout  = 5 * time.Second
	DefaultHealthFailures = 3
)

// MinHealthInterval is the shortest Health.Interval, also for objects from before the schema refused shorter ones.
const MinHealthInterval = time.Second

// Health says how a cluster's health is probed: by an authenticated request for /readyz.
type Health struct {
	// Interval between two requests, at least 1s. Default: 15s.
	// +optional
	// +kubebuilder:default="15s"
	// +kubebuilder:validation:XValidation:rule="self in ['0', '0s'] || self.matches('^([0-9]+([.][0-9]+)?(ns|us|µs|ms|s|m|h))+$') && duration(self) >= duration('1s')",message="must be a duration of at least 1s, such as 15s or 1m30s; 0s is the default"
	Interval metav1.Duration `json:"interval,omitempty"`

	// Timeout of one request, at least 1s. Default: 5s.
	// +optional
	// +kubebuilder:default="5s"
	// +kubebuilder:validation:XValidation:rule="self in ['0', '0s'] || self.matches('^([0-9]+([.][0-9]+)?(ns|us|µs|ms|s|m|h))+$') && duration(self) >= duration('1s')",message="must be a duration of at least 1s, such as 15s or 1m30s; 0s is the default"
	Timeout metav1.Duration `json:"timeout,omitempty"`

	// FailureThreshold is how many requests in a row must fail until the cluster counts as not ready. One success makes it ready
	// again. Default: 3.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	FailureThreshold int32 `json:"failureThreshold,omitempty"`
}
