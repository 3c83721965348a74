// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Cluster is a whole Kubernetes cluster that a tool such as RKE provisions from a configuration. Windlass runs the tool when the
// object is created and whenever its configuration changes, probes the cluster's health, keeps the tool's state and the
// cluster's kubeconfig in Secrets, and has the tool remove the cluster when the object is deleted.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,categories=windlass
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Provisioned",type=string,JSONPath=`.status.conditions[?(@.type=="Provisioned")].status`,description="Whether the tool has applied a configuration"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the cluster answers and is as configured"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is, or is not"
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.kubernetesVersion`,description="Version of the cluster's Kubernetes"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Provisioner",type=string,priority=1,JSONPath=`.spec.provisioner`,description="The tool"
// +kubebuilder:printcolumn:name="Nodes",type=integer,priority=1,JSONPath=`.status.nodes.ready`,description="Nodes of the cluster that are ready"
// +kubebuilder:printcolumn:name="Stage",type=string,priority=1,JSONPath=`.status.lastOperation.stage`,description="What the tool did last"
// +kubebuilder:printcolumn:name="Endpoint",type=string,priority=1,JSONPath=`.status.endpoint`,description="Address of the cluster's API server"
type Cluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +required
	Spec ClusterSpec `json:"spec"`

	// Status is what Windlass has observed and done. Until it has reported for the first time, the status says so.
	// +optional
	// +default={"conditions":[{"type":"Ready","status":"Unknown","reason":"NotObserved","message":"Windlass has not reported on this object yet","lastTransitionTime":"1970-01-01T00:00:00Z"}]}
	Status ClusterStatus `json:"status,omitempty"`
}

// Provisioner names the tool that provisions a cluster.
//
// +kubebuilder:validation:Enum=rke;devcluster;exec
type Provisioner string

// The provisioners: presets of one that runs a tool.
const (
	ProvisionerRKE        Provisioner = "rke"
	ProvisionerDevcluster Provisioner = "devcluster"
	ProvisionerExec       Provisioner = "exec"
)

// ClusterSpec is the desired state of a Cluster.
//
// +kubebuilder:validation:XValidation:rule="(has(self.configPath) && size(self.configPath) > 0) != has(self.config)",message="give exactly one of configPath and config"
// +kubebuilder:validation:XValidation:rule="has(self.exec) == (has(self.provisioner) && self.provisioner == 'exec')",message="exec describes the tool of the provisioner exec, and of no other"
// +kubebuilder:validation:XValidation:rule="!has(self.sshAuth) || !has(self.sshAuth.knownHostsRef) || has(self.exec) && (self.exec.up.exists(a, a.contains('{knownhosts}')) || self.exec.remove.exists(a, a.contains('{knownhosts}')) || has(self.exec.env) && self.exec.env.exists(e, has(e.value) && e.value.contains('{knownhosts}')))",message="sshAuth.knownHostsRef works only with the provisioner exec, and with {knownhosts} in exec.up, exec.remove or exec.env: rke accepts every host key, and devcluster does not use SSH"
// +kubebuilder:validation:XValidation:rule="has(self.sshAuth) && has(self.sshAuth.knownHostsRef) || !has(self.exec) || !(self.exec.up.exists(a, a.contains('{knownhosts}')) || self.exec.remove.exists(a, a.contains('{knownhosts}')) || has(self.exec.env) && self.exec.env.exists(e, has(e.value) && e.value.contains('{knownhosts}')))",message="{knownhosts} needs sshAuth.knownHostsRef, which says what is in that file"
// +kubebuilder:validation:XValidation:rule="!has(self.sshAuth) || !has(self.sshAuth.privateKeySecretRef) || !has(self.provisioner) || self.provisioner != 'devcluster'",message="sshAuth.privateKeySecretRef works only with the provisioners rke and exec: devcluster does not use SSH"
// +kubebuilder:validation:XValidation:rule="(has(self.provisioner) ? self.provisioner : 'rke') == (has(oldSelf.provisioner) ? oldSelf.provisioner : 'rke')",message="provisioner is immutable: another tool cannot remove what this one made"
type ClusterSpec struct {
	// ConfigPath is the path of the tool's configuration on the machine that runs Windlass, inside --config-root if that is set.
	// The tool gets this very path, and writes its state and the kubeconfig beside it. Windlass reads the file every few seconds and
	// has a change applied. No other Cluster can have the same file. Exactly one of configPath and config. Mutable.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:Pattern=`^(/[^\x00]*)?$`
	ConfigPath string `json:"configPath,omitempty"`

	// Config is the tool's configuration, or where it is. Exactly one of configPath and config. Mutable.
	// +optional
	Config *ConfigSource `json:"config,omitempty"`

	// Provisioner is the tool: rke, devcluster, or exec for one described by exec. Default: rke. Immutable.
	// +optional
	// +kubebuilder:default=rke
	Provisioner Provisioner `json:"provisioner,omitempty"`

	// Exec describes a tool. Required with the provisioner exec, refused with any other. The manager allows that provisioner only if
	// --allowed-provisioners lists it. Mutable.
	// +optional
	Exec *ExecSpec `json:"exec,omitempty"`

	// SSHAuth is how the tool and the machines authenticate to each other. Refused with the provisioner devcluster, which does not use
	// SSH. Default: as the configuration says. Mutable.
	// +optional
	SSHAuth *SSHAuth `json:"sshAuth,omitempty"`

	// Timeouts limit the runs of the tool. Mutable; a run that is under way keeps those it was started with.
	// +optional
	// +kubebuilder:default={}
	Timeouts Timeouts `json:"timeouts,omitempty"`

	// Retry says how a failed run is repeated. Mutable.
	// +optional
	// +kubebuilder:default={}
	Retry Retry `json:"retry,omitempty"`

	// Approval says whether a change of the configuration is applied at once (Auto), or published in status.plan and applied when
	// the annotation clusterprovisioner.rke.io/approve holds the plan's id (Manual). Default: Auto. Mutable.
	// +optional
	// +kubebuilder:default=Auto
	Approval Approval `json:"approval,omitempty"`

	// Health says how the cluster's health is probed. Mutable.
	// +optional
	// +kubebuilder:default={}
	Health Health `json:"health,omitempty"`

	// DeletionPolicy says what happens to the cluster when this object is deleted: Delete has the tool remove it, Orphan leaves it
	// as it is. Default: Delete. Mutable.
	// +optional
	// +kubebuilder:default=Delete
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// KubeconfigSecretRef is the Secret for the cluster's kubeconfig, under the key "value". Default: the Secret <name>-kubeconfig in
	// the namespace that Windlass runs in. Mutable: the previous Secret is deleted.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.__namespace__) || self.__namespace__.matches('^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?$')",message="namespace must be the name of a namespace: lower case letters, digits and '-', at most 63 characters"
	// +kubebuilder:validation:XValidation:rule="!has(self.name) || self.name.matches('^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)?$')",message="name must be the name of a Secret: lower case letters, digits, '-' and '.', at most 253 characters"
	KubeconfigSecretRef *corev1.SecretReference `json:"kubeconfigSecretRef,omitempty"`
}

// ConfigSource is a tool's configuration, or where it is.
//
// +kubebuilder:validation:XValidation:rule="[has(self.inline), has(self.secretRef), has(self.configMapRef)].filter(x, x).size() == 1",message="give exactly one of inline, secretRef and configMapRef"
type ConfigSource struct {
	// Inline is the configuration itself. Private keys and passwords are refused here: anyone who can read the Cluster could read
	// them.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=262144
	Inline string `json:"inline,omitempty"`

	// SecretRef is a key of a Secret, the only place for a configuration that contains private keys or passwords. The Secret must
	// be in the namespace that Windlass runs in, or in one that --config-namespaces lists.
	// +optional
	SecretRef *KeyReference `json:"secretRef,omitempty"`

	// ConfigMapRef is a key of a ConfigMap, in the same namespaces. Private keys and passwords are refused there.
	// +optional
	ConfigMapRef *KeyReference `json:"configMapRef,omitempty"`
}

// KeyReference is a key of a Secret or ConfigMap.
type KeyReference struct {
	// Namespace of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespace string `json:"namespace"`

	// Name of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Name string `json:"name"`

	// Key in the object's data.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// ExecSpec describes a tool: how it is called, and what it writes. Each list is a program and its arguments, run without a shell. In
// every argument, file name and value, {config} is replaced by the path of the configuration, {configname} by its file name, {configstem}
// by that without its extension, {name} by the name of the Cluster, and {dir} by the directory of the configuration. In arguments and
// values, {knownhosts} is replaced by the path of a file with what sshAuth.knownHostsRef names.
type ExecSpec struct {
	// Up applies the configuration: it creates the cluster, or changes it. It runs again after a failure and for each change.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	Up []string `json:"up"`

	// Remove removes the cluster, and succeeds if there is none.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	Remove []string `json:"remove"`

	// Version prints the tool's version. Default: the version is not reported.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	Version []string `json:"version,omitempty"`

	// Env is added to the tool's environment, which otherwise has PATH, HOME, the locale and proxies only. Do not put secrets here.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Env []ExecEnv `json:"env,omitempty"`

	// StateFiles are patterns of the files that the tool needs next time, such as "{configstem}.state*", in the directory of the
	// configuration. They are stored in a Secret. A pattern names no directory, and directories and links that it matches are left out. If Clusters
	// share a directory, no pattern of one may match a file of another. Default: none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.all(p, !p.contains('/'))",message="stateFiles are patterns of file names in the directory of the configuration, without a '/'"
	StateFiles []string `json:"stateFiles,omitempty"`

	// KubeconfigFile is the file in the directory of the configuration, or below it, that the tool writes the kubeconfig to. Default: none; the
	// cluster's health is then unknown, and the Cluster does not become Ready.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('/') && !self.split('/').exists(part, part == '..')",message="kubeconfigFile is a file in the directory of the configuration or below it: without a '/' at its beginning, and without '..'"
	KubeconfigFile string `json:"kubeconfigFile,omitempty"`
}

// ExecEnv is a variable of a tool's environment.
type ExecEnv struct {
	// Name of the variable.
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]*$`
	Name string `json:"name"`

	// Value of the variable. Default: empty.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Value string `json:"value,omitempty"`
}

// SSHAuth is how a tool authenticates to machines.
type SSHAuth struct {
	// PrivateKeySecretRef is the key of a Secret that holds an SSH private key without a passphrase. The tool gets it through an SSH
	// agent; it is never written to a disk.
	// +optional
	PrivateKeySecretRef *KeyReference `json:"privateKeySecretRef,omitempty"`

	// KnownHostsRef is the key of a ConfigMap with the machines' host keys, in the format of known_hosts. Only a tool of the provisioner
	// exec gets them, in the file {knownhosts}, which exec.up, exec.remove or exec.env must name: RKE accepts every host key, whatever is
	// known.
	// +optional
	KnownHostsRef *KeyReference `json:"knownHostsRef,omitempty"`
}

// Approval says whether a change needs a person.
//
// +kubebuilder:validation:Enum=Auto;Manual
type Approval string

// The ways of approving a change.
const (
	ApprovalAuto   Approval = "Auto"
	ApprovalManual Approval = "Manual"
)

// DeletionPolicy says what happens to a cluster whose object is deleted.
//
// +kubebuilder:validation:Enum=Delete;Orphan
type DeletionPolicy string

// The deletion policies.
const (
	DeletionDelete DeletionPolicy = "Delete"
	DeletionOrphan DeletionPolicy = "Orphan"
)

// ClusterList is a list of Clusters.
//
// +kubebuilder:object:root=true
type ClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the Clusters.
	Items []Cluster `json:"items"`
}
