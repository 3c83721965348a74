// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"

// The fields of an object that are absent are errors in CEL, so that every optional one is asked for with has first.
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

	// poolTaints are written as in the ledger, which has those that nodes still carry after the spec has dropped them.
	poolTaints = `(has(params.spec) && has(params.spec.taints) ?
  params.spec.taints.map(t, t.key + '=' + (has(t.value) ? t.value : '') + ':' + t.effect) : [])`
	oldTaints = `(has(params.status) && has(params.status.ledger) && has(params.status.ledger.taints) ?
  params.status.ledger.taints : [])`

	// neighborTaints are those of the pools that share a node with this one, written in the same way.
	neighborTaints = `(has(params.status) && has(params.status.neighborTaints) ? params.status.neighborTaints : [])`
)

// labelHonoured looks for what choosePatch adds, and so is false for a pool that does not exist.
const labelHonoured = `has(object.spec.nodeSelector) &&
('` + nodesv1.MemberLabelPrefix + `' + object.metadata.labels['` + nodesv1.PoolLabel + `']) in object.spec.nodeSelector`

const labelMessage = `'the label ` + nodesv1.PoolLabel + ` of the pod cannot be honoured: there is no NodePool "' +
object.metadata.labels['` + nodesv1.PoolLabel + `'] + '" that takes pods, or its labels contradict the node selector of the pod'`

// chooseVariables are evaluated when the first expression asks for them.
func chooseVariables() []variable {
	return []variable{
		{"pool", `params.metadata.name`},
		{"memberLabel", `'` + nodesv1.MemberLabelPrefix + `' + params.metadata.name`},
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
		{"takesDefault", takesDefault},
		{"classReady", classReady},
	}
}

// untolerated are the taints that no toleration of the pod covers without a time limit, as the RuntimeClass admission has it.
const untolerated = `variables.taints.filter(s, !variables.podTolerations.exists(t,
  (!has(t.key) || t.key == '' || t.key == s.split(':')[0].split('=')[0]) &&
  (!has(t.effect) || t.effect == '' || t.effect == s.split(':')[1]) &&
  !has(t.tolerationSeconds) &&
  (has(t.operator) && t.operator == 'Exists' ||
    (!has(t.operator) || t.operator == '' || t.operator == 'Equal') &&
    (has(t.value) ? t.value : '') == s.split(':')[0].split('=')[1])))`

// fits is false for a pod that asks for nodes that the pool does not have. Its own choice is never overwritten.
const fits = `(!(variables.memberLabel in variables.podSelector) || variables.podSelector[variables.memberLabel] == '') &&
variables.poolLabels.all(k, !(k in variables.podSelector) || variables.podSelector[k] == variables.poolLabels[k])`

// takesDefault is true for a pod that chooses no pool, or that has been given one in this very request whose name comes later.
// A pod that is made for one node cannot be sent elsewhere: it would wait for ever.
const takesDefault = `has(params.spec.defaultFor) && variables.fits &&
!has(object.spec.nodeName) &&
!(has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, o.kind == 'DaemonSet')) &&
('` + nodesv1.PoolLabel + `' in variables.podLabels ?
  '` + nodesv1.DefaultAnnotation + `' in variables.podAnnotations &&
  variables.podAnnotations['` + nodesv1.DefaultAnnotation + `'] == variables.podLabels['` + nodesv1.PoolLabel + `'] &&
  variables.pool < variables.podLabels['` + nodesv1.PoolLabel + `'] :
  !has(object.spec.runtimeClassName) &&
  !variables.podSelector.exists(k, k.startsWith('` + nodesv1.MemberLabelPrefix + `')) &&
  !` + podTerms + `.exists(t, has(t.matchExpressions) && t.matchExpressions.exists(e,
    e.key.startsWith('` + nodesv1.MemberLabelPrefix + `'))))`

// classReady is false where the RuntimeClass of that name is somebody else's.
const classReady = `has(params.status) && has(params.status.conditions) && params.status.conditions.exists(c,
  c.type == '` + nodesv1.ConditionRuntimeClassReady + `' && c.status == 'True')`

// choosePatch gives a pod that names the pool by label its selector and tolerations, and one that takes the default its name. The
// list of tolerations is atomic, so that only a JSON patch can add to it.
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
