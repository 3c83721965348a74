// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// Reading an absent field is an error in CEL, so every expression checks optional fields with has first.
const (
	podLabels      = `has(object.metadata.labels) ? object.metadata.labels : {}`
	podAnnotations = `has(object.metadata.annotations) ? object.metadata.annotations : {}`
	podSelector    = `has(object.spec.nodeSelector) ? object.spec.nodeSelector : {}`
	podTolerations = `has(object.spec.tolerations) ? object.spec.tolerations : []`
	podTerms       = `(!has(object.spec.affinity) || !has(object.spec.affinity.nodeAffinity) ? [] :
  (has(object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution) ?
    object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms : []) +
  (has(object.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution) ?
    object.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution.map(p, p.preference) : []))`

	poolLabels = `has(params.spec) && has(params.spec.labels) ? params.spec.labels : {}`

	// poolTaints are in the format of the ledger, which also has the taints that the spec has dropped and nodes still carry.
	poolTaints = `(has(params.spec) && has(params.spec.taints) ?
  params.spec.taints.map(t, t.key + '=' + (has(t.value) ? t.value : '') + ':' + t.effect) : [])`
	oldTaints = `(has(params.status) && has(params.status.ledger) && has(params.status.ledger.taints) ?
  params.status.ledger.taints : [])`

	// neighborTaints are the taints of the pools that share a node with this pool, in the same format.
	neighborTaints = `(has(params.status) && has(params.status.neighborTaints) ? params.status.neighborTaints : [])`
)

// labelHonoured checks for the node selector that choosePatch adds. It is false if the pool does not exist.
const labelHonoured = `has(object.spec.nodeSelector) && ['` + nodesv1.MemberLabelPrefix + `', '` + nodesv1.AddressLabelPrefix + `'].exists(p,
  (p + object.metadata.labels['` + nodesv1.PoolLabel + `']) in object.spec.nodeSelector)`

const labelMessage = `'cannot place the pod by its label ` + nodesv1.PoolLabel + `: NodePool "' + object.metadata.labels['` + nodesv1.PoolLabel + `'] +
'" does not exist or is being deleted, or its labels contradict the node selector of the pod'`

// memberLabel is the label that the pool's RuntimeClass selects. Before the status names it, it is the one that the spec gives to members.
const memberLabel = `has(params.status) && has(params.status.memberLabel) ? params.status.memberLabel :
  (has(params.spec) && has(params.spec.nodeCIDRs) && params.spec.nodeCIDRs.size() > 0 ?
    '` + nodesv1.AddressLabelPrefix + `' : '` + nodesv1.MemberLabelPrefix + `') + params.metadata.name`

// isMemberLabel is true if the variable is a member label of any pool.
func isMemberLabel(variable string) string {
	return fmt.Sprintf("(%[1]s.startsWith(%[2]q) || %[1]s.startsWith(%[3]q))", variable, nodesv1.MemberLabelPrefix, nodesv1.AddressLabelPrefix)
}

// chooseVariables are evaluated lazily, when an expression first uses them.
func chooseVariables() []variable {
	return []variable{
		{"pool", `params.metadata.name`},
		{"memberLabel", memberLabel},
		{"podLabels", podLabels},
		{"podAnnotations", podAnnotations},
		{"podSelector", podSelector},
		{"podTolerations", podTolerations},
		{"poolLabels", poolLabels},
		{"poolTaints", poolTaints},
		{"ownTaints", `variables.poolTaints + ` + oldTaints + `.filter(t, !(t in variables.poolTaints))`},
		{"taints", `variables.ownTaints + ` + neighborTaints + `.filter(t, !(t in variables.ownTaints))`},
		{"untolerated", untolerated},
		{"fits", fits},
		{"labelled", `'` + nodesv1.PoolLabel + `' in variables.podLabels && variables.podLabels['` + nodesv1.PoolLabel + `'] == variables.pool`},
		{"takesDefault", takesDefault()},
		{"classReady", classReady},
	}
}

// untolerated are the taints that the pod does not tolerate without a time limit. It follows the RuntimeClass admission.
const untolerated = `variables.taints.filter(s, !variables.podTolerations.exists(t,
  (!has(t.key) || t.key == '' || t.key == s.split(':')[0].split('=')[0]) &&
  (!has(t.effect) || t.effect == '' || t.effect == s.split(':')[1]) &&
  !has(t.tolerationSeconds) &&
  (has(t.operator) && t.operator == 'Exists' ||
    (!has(t.operator) || t.operator == '' || t.operator == 'Equal') &&
    (has(t.value) ? t.value : '') == s.split(':')[0].split('=')[1])))`

// fits is false if the pod's node selector asks for nodes outside of the pool. The pod's own choice is never overwritten.
const fits = `(!(variables.memberLabel in variables.podSelector) || variables.podSelector[variables.memberLabel] == '') &&
variables.poolLabels.all(k, !(k in variables.podSelector) || variables.podSelector[k] == variables.poolLabels[k])`

// takesDefault is true for a pod that chooses no pool, and for a pod whose default in this request is a pool with a later name. A pod that
// is bound to one node keeps what it has: anywhere else it would stay pending.
func takesDefault() string {
	return `has(params.spec.defaultFor) && variables.fits &&
!has(object.spec.nodeName) &&
!(has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, o.kind == 'DaemonSet')) &&
('` + nodesv1.PoolLabel + `' in variables.podLabels ?
  '` + nodesv1.DefaultAnnotation + `' in variables.podAnnotations &&
  variables.podAnnotations['` + nodesv1.DefaultAnnotation + `'] == variables.podLabels['` + nodesv1.PoolLabel + `'] &&
  variables.pool < variables.podLabels['` + nodesv1.PoolLabel + `'] :
  !has(object.spec.runtimeClassName) &&
  !variables.podSelector.exists(k, ` + isMemberLabel("k") + `) &&
  !` + podTerms + `.exists(t, has(t.matchExpressions) && t.matchExpressions.exists(e, ` + isMemberLabel("e.key") + `)))`
}

// classReady is false if the RuntimeClass with the pool's name does not belong to the pool.
const classReady = `has(params.status) && has(params.status.conditions) && params.status.conditions.exists(c,
  c.type == '` + nodesv1.ConditionRuntimeClassReady + `' && c.status == 'True')`

// choosePatch adds node selector and tolerations to a pod that chooses the pool by label, and the pool's name to a pod that takes the
// default. It is a JSON patch because the list of tolerations is atomic and nothing else can append to it.
const choosePatch = `variables.labelled ? (!variables.fits ? [] :
  (has(object.spec.nodeSelector) ? [] : [JSONPatch{op: 'add', path: '/spec/nodeSelector', value: {}}]) +
  [JSONPatch{op: 'add', path: '/spec/nodeSelector/' + jsonpatch.escapeKey(variables.memberLabel), value: ''}] +
  variables.poolLabels.map(k,
    JSONPatch{op: 'add', path: '/spec/nodeSelector/' + jsonpatch.escapeKey(k), value: variables.poolLabels[k]}) +
  (has(object.spec.tolerations) ? [] : [JSONPatch{op: 'add', path: '/spec/tolerations', value: []}]) +
  variables.untolerated.map(s, JSONPatch{op: 'add', path: '/spec/tolerations/-', value: {
    'key': s.split(':')[0].split('=')[0], 'operator': 'Equal', 'value': s.split(':')[0].split('=')[1], 'effect': s.split(':')[1]}})
) : !variables.takesDefault ? [] :
  (has(object.metadata.labels) ? [] : [JSONPatch{op: 'add', path: '/metadata/labels', value: {}}]) +
  [JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('` + nodesv1.PoolLabel + `'), value: variables.pool}] +
  (has(object.metadata.annotations) ? [] : [JSONPatch{op: 'add', path: '/metadata/annotations', value: {}}]) +
  [JSONPatch{op: 'add', path: '/metadata/annotations/' + jsonpatch.escapeKey('` + nodesv1.DefaultAnnotation + `'), value: variables.pool}] +
  (variables.classReady ? [JSONPatch{op: 'add', path: '/spec/runtimeClassName', value: variables.pool}] :
    has(object.spec.runtimeClassName) ? [JSONPatch{op: 'remove', path: '/spec/runtimeClassName'}] : [])`
