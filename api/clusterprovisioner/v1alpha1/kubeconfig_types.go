// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kubeconfig gives access to a cluster: with the tool's own kubeconfig, or with a token of limited rights and lifetime that is renewed
// while the object exists and revoked when it is deleted. Every Cluster gets one of its own name.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,categories=windlass
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`,description="What kind of credential it is"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the Secret holds a valid kubeconfig"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it does, or does not"
// +kubebuilder:printcolumn:name="Expires",type=string,JSONPath=`.status.expiresAt`,description="When the credential expires unless it is renewed"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Server",type=string,priority=1,JSONPath=`.status.server`,description="Address of the API server"
// +kubebuilder:printcolumn:name="Secret",type=string,priority=1,JSONPath=`.status.secretRef.name`,description="Secret that holds the kubeconfig"
type Kubeconfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +optional
	Spec KubeconfigSpec `json:"spec,omitempty"`

	// Status is what Windlass has observed. Until it has reported for the first time, the status says so.
	// +optional
	// +default={"conditions":[{"type":"Ready","status":"Unknown","reason":"NotObserved","message":"Windlass has not reported on this object yet","lastTransitionTime":"1970-01-01T00:00:00Z"}]}
	Status KubeconfigStatus `json:"status,omitempty"`
}

// KubeconfigType is the kind of credential of a Kubeconfig.
//
// +kubebuilder:validation:Enum=Admin;ServiceAccountToken
type KubeconfigType string

// The kinds of credentials.
const (
	KubeconfigAdmin               KubeconfigType = "Admin"
	KubeconfigServiceAccountToken KubeconfigType = "ServiceAccountToken"
)

// KubeconfigSpec is the desired state of a Kubeconfig.
//
// +kubebuilder:validation:XValidation:rule="has(self.clusterRef) || (has(self.configPath) && size(self.configPath) > 0)",message="give clusterRef or configPath"
// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type == 'Admin' || has(self.clusterRef)",message="a token is made in a cluster: give clusterRef"
type KubeconfigSpec struct {
	// ClusterRef names the Cluster. Required for a token. Mutable.
	// +optional
	ClusterRef *ClusterReference `json:"clusterRef,omitempty"`

	// ConfigPath is the path of the kubeconfig that the tool wrote, on the machine that runs Windlass, inside --config-root if that is
	// set. Windlass fills it in on the Kubeconfig of a Cluster. Mutable.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	ConfigPath string `json:"configPath,omitempty"`

	// Type is Admin, the kubeconfig that the tool wrote, or ServiceAccountToken, a token of a ServiceAccount that Windlass creates in
	// the cluster. Default: Admin. Mutable.
	// +optional
	// +kubebuilder:default=Admin
	Type KubeconfigType `json:"type,omitempty"`

	// ServiceAccount is the name, in kube-system of the cluster, of the ServiceAccount that a token is for. Default: windlass-<name>.
	// Mutable: the previous one is revoked.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	ServiceAccount string `json:"serviceAccount,omitempty"`

	// ClusterRole is the role that the token has in the cluster. Default: view. Mutable.
	// +optional
	// +kubebuilder:default=view
	// +kubebuilder:validation:MaxLength=253
	ClusterRole string `json:"clusterRole,omitempty"`

	// ExpirationSeconds is how long a token is valid; it is renewed after two thirds of that. From 600. Default: 3600. Mutable.
	// +optional
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=600
	// +kubebuilder:validation:Maximum=31536000
	ExpirationSeconds int64 `json:"expirationSeconds,omitempty"`

	// WriteSecretToRef is the Secret that gets the kubeconfig under the key "value". Default: <name>-kubeconfig in the namespace
	// that Windlass runs in. Mutable.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.__namespace__) || self.__namespace__.matches('^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?$')",message="namespace must be the name of a namespace: lower case letters, digits and '-', at most 63 characters"
	// +kubebuilder:validation:XValidation:rule="!has(self.name) || self.name.matches('^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)?$')",message="name must be the name of a Secret: lower case letters, digits, '-' and '.', at most 253 characters"
	WriteSecretToRef *corev1.SecretReference `json:"writeSecretToRef,omitempty"`
}

// ClusterReference names a Cluster.
type ClusterReference struct {
	// Name of the Cluster.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// KubeconfigStatus is the observed state of a Kubeconfig.
type KubeconfigStatus struct {
	// ObservedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// SecretRef is the Secret that holds the kubeconfig under the key "value".
	// +optional
	SecretRef *corev1.SecretReference `json:"secretRef,omitempty"`

	// ExpiresAt is when the credential expires unless it is renewed: the token, or the client certificate.
	// +optional
	ExpiresAt *metav1.Time `json:"expiresAt,omitempty"`

	// Server is the address of the API server.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Server string `json:"server,omitempty"`

	// ServiceAccount is the ServiceAccount in the cluster that the token is for. It is deleted when the spec names another.
	// +optional
	// +kubebuilder:validation:MaxLength=262
	ServiceAccount string `json:"serviceAccount,omitempty"`

	// ClusterName is the Cluster in which ServiceAccount was made. It is revoked there when the spec names another Cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ClusterName string `json:"clusterName,omitempty"`

	// OriginalUID is the UID that this Kubeconfig had when its ServiceAccount was made, if "windlass restore" has made it anew since. The
	// ServiceAccount and its binding are labelled with it.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	OriginalUID string `json:"originalUID,omitempty"`

	// Conditions describe the state of the Kubeconfig. Ready is the summary; Reconciling and Stalled say whether Windlass is still at
	// work or cannot continue; Issued says whether the Secret holds a valid kubeconfig.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// KubeconfigList is a list of Kubeconfigs.
//
// +kubebuilder:object:root=true
type KubeconfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the Kubeconfigs.
	Items []Kubeconfig `json:"items"`
}

// GetConditions returns the conditions in the status.
func (k *Kubeconfig) GetConditions() []metav1.Condition { return k.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (k *Kubeconfig) SetConditions(conditions []metav1.Condition) { k.Status.Conditions = conditions }

// SetObservedGeneration records the generation of the spec that the status describes.
func (k *Kubeconfig) SetObservedGeneration(generation int64) {
	k.Status.ObservedGeneration = generation
}
