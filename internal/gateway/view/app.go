// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
)

// AppLabel and AppLabelValue mark both parts of an app, which have the app's name.
const (
	AppLabel      = "app.kubernetes.io/managed-by"
	AppLabelValue = "windlass-api"
)

// App is a Deployment and its Service as one thing.
type App struct {
	// Name of both.
	Name string `json:"name" minLength:"1" maxLength:"63" pattern:"^[a-z]([-a-z0-9]*[a-z0-9])?$" doc:"Name of the Deployment and of the Service" example:"k8s-test-stub"`
	// Namespace of both.
	Namespace string `json:"namespace,omitempty" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" doc:"Namespace of both. The default is ns of the query" example:"testing"`
	// CreateNamespace creates the namespace if it does not exist.
	CreateNamespace bool `json:"createNamespace,omitempty" doc:"Create the namespace if it does not exist. It is not deleted with the app"`
	// Labels of both, which also select the pods.
	Labels map[string]string `json:"labels,omitempty" maxProperties:"32" doc:"Labels of both and of the pods, which both select. The default is app: and the name"`
	// Image of the container.
	Image string `json:"image" minLength:"1" maxLength:"1024" doc:"Image of the container" example:"nginx:alpine"`
	// Replicas is the desired number of pods.
	Replicas *int32 `json:"replicas,omitempty" minimum:"0" maximum:"100000" default:"1" doc:"Number of pods"`
	// Port of the Service.
	Port int32 `json:"port,omitempty" minimum:"1" maximum:"65535" default:"80" doc:"Port of the Service"`
	// TargetPort of the container.
	TargetPort int32 `json:"targetPort,omitempty" minimum:"1" maximum:"65535" doc:"Port of the container. The default is the port of the Service"`
	// ServiceType of the Service.
	ServiceType string `json:"serviceType,omitempty" enum:"ClusterIP,NodePort,LoadBalancer" default:"ClusterIP" doc:"Type of the Service"`
	// NodePool whose nodes run the pods.
	NodePool string `json:"nodePool,omitempty" maxLength:"63" pattern:"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$" doc:"Node pool whose nodes run the pods. The default is any node"`

	// creators are what the annotation "creator" of the Deployment and of the Service says. Empty: AppLabelValue.
	creators struct{ deployment, service string }
}

// DefaultApp returns the example, a web server with two replicas, as the article has it that this API follows: also the two
// annotations, which differ.
func DefaultApp() App {
	app := App{
		Name: "k8s-test-stub", Namespace: "testing", CreateNamespace: true, Labels: map[string]string{"app": "k8s-test-app"},
		Image: "nginx:alpine", Replicas: new(int32(2)), Port: 80, TargetPort: 80, ServiceType: string(corev1.ServiceTypeNodePort),
	}
	app.creators.deployment, app.creators.service = "k8s-operator-test", "k8s-test-operator"
	return app
}

// Invalid returns what the API server would refuse about the parts of the app, for namespaces that do not exist yet, where it
// cannot be asked.
func (a *App) Invalid() []FieldError {
	var out []FieldError
	for _, key := range slices.Sorted(maps.Keys(a.Labels)) {
		for _, problem := range append(validation.IsQualifiedName(key), validation.IsValidLabelValue(a.Labels[key])...) {
			out = append(out, FieldError{Location: "body.labels." + key, Message: problem})
		}
	}
	if a.Labels[AppLabel] != "" && a.Labels[AppLabel] != AppLabelValue {
		out = append(out, FieldError{Location: "body.labels." + AppLabel, Message: "is a label of the API"})
	}
	if strings.TrimSpace(a.Image) != a.Image {
		out = append(out, FieldError{Location: "body.image", Message: "must not begin or end with a space"})
	}
	return out
}

// selector returns the labels that select the pods.
func (a *App) selector() map[string]string {
	if len(a.Labels) == 0 {
		return map[string]string{"app": a.Name}
	}
	return maps.Clone(a.Labels)
}

func (a *App) meta(creator string) metav1.ObjectMeta {
	labels := a.selector()
	labels[AppLabel] = AppLabelValue
	return metav1.ObjectMeta{
		Name: a.Name, Namespace: a.Namespace, Labels: labels, Annotations: map[string]string{"creator": cmp.Or(creator, AppLabelValue)},
	}
}

// notInNames are characters that the name of a container cannot have.
var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// container returns the name of the container: that of its image without registry, tag and digest, as kubectl chooses it.
func (a *App) container() string {
	name, _, _ := strings.Cut(path.Base(a.Image), "@")
	name, _, _ = strings.Cut(name, ":")
	name = notInNames.ReplaceAllString(strings.ToLower(name), "-")
	return cmp.Or(strings.Trim(name[:min(len(name), validation.DNS1123LabelMaxLength)], "-"), "app")
}

// Deployment returns the Deployment of the app.
func (a *App) Deployment() *appsv1.Deployment {
	quarter := intstr.FromString("25%")
	target := a.targetPort()
	spec := corev1.PodSpec{
		Containers: []corev1.Container{{
			Name: a.container(), Image: a.Image, Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: target}},
		}},
		RestartPolicy: corev1.RestartPolicyAlways, DNSPolicy: corev1.DNSClusterFirst, AutomountServiceAccountToken: new(true),
	}
	if a.NodePool != "" {
		spec.RuntimeClassName = &a.NodePool // the RuntimeClass of a pool has its name, and brings the pods to its nodes
	}
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: a.meta(a.creators.deployment),
		Spec: appsv1.DeploymentSpec{
			Replicas: a.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: a.selector()},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: a.selector()}, Spec: spec},
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxUnavailable: &quarter, MaxSurge: &quarter},
			},
		},
	}
}

// Service returns the Service of the app.
func (a *App) Service() *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: a.meta(a.creators.service),
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceType(a.ServiceType), Selector: a.selector(),
			Ports: []corev1.ServicePort{{
				Name: "http", Protocol: corev1.ProtocolTCP, Port: max(a.Port, 1), TargetPort: intstr.FromInt32(a.targetPort()),
			}},
		},
	}
}

func (a *App) targetPort() int32 {
	if a.TargetPort != 0 {
		return a.TargetPort
	}
	return max(a.Port, 1)
}

// AppState is an existing app. One of its two parts may be missing.
type AppState struct {
	// Name of the app.
	Name string `json:"name" doc:"Name of the app"`
	// Namespace of the app.
	Namespace string `json:"namespace" doc:"Namespace of the app"`
	// Image of the container.
	Image string `json:"image,omitempty" doc:"Image of the first container"`
	// NodePool whose nodes run the pods.
	NodePool string `json:"nodePool,omitempty" doc:"Node pool whose nodes run the pods"`
	// Replicas is the desired number of pods.
	Replicas int32 `json:"replicas" doc:"Desired number of pods"`
	// Available is the number of available pods.
	Available int32 `json:"available" doc:"Number of available pods"`
	// Deployment is the object as the API server returns it.
	Deployment Object `json:"deployment,omitempty" doc:"The Deployment. Left out if it does not exist"`
	// Service is the object as the API server returns it.
	Service Object `json:"service,omitempty" doc:"The Service. Left out if it does not exist"`
}

// AppList is a list of apps.
type AppList struct {
	// Items are sorted by namespace and name.
	Items []AppState `json:"items" nullable:"false" doc:"Apps, sorted by namespace and name"`
}

// ReadApp returns the state of an app from its parts, either of which may be nil.
func ReadApp(namespace, name string, deployment, service []byte) (AppState, error) {
	out := AppState{Name: name, Namespace: namespace, Deployment: deployment, Service: service}
	if deployment == nil {
		return out, nil
	}
	read := &appsv1.Deployment{}
	if err := json.Unmarshal(deployment, read); err != nil {
		return out, fmt.Errorf("cannot read Deployment %q: %w", name, err)
	}
	if read.Spec.Replicas != nil {
		out.Replicas = *read.Spec.Replicas
	}
	out.Available = read.Status.AvailableReplicas
	if class := read.Spec.Template.Spec.RuntimeClassName; class != nil {
		out.NodePool = *class
	}
	if containers := read.Spec.Template.Spec.Containers; len(containers) > 0 {
		out.Image = containers[0].Image
	}
	return out, nil
}

// IsAppPart reports whether an object is a part of an app.
func IsAppPart(raw []byte) bool {
	var object struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	return json.Unmarshal(raw, &object) == nil && object.Metadata.Labels[AppLabel] == AppLabelValue
}

// Results of deleting a part of an app.
const (
	// PartDeleted is the result for a part that existed.
	PartDeleted = "deleted"
	// PartGone is the result for a part that did not exist.
	PartGone = "gone"
	// PartForeign is the result for an object of that name that is not part of an app. It is not deleted.
	PartForeign = "foreign"
)

// AppDeletion is the result of deleting an app.
type AppDeletion struct {
	// Deployment is the result for the Deployment.
	Deployment string `json:"deployment" enum:"deleted,gone,foreign" doc:"Result for the Deployment: foreign is an object of that name that is not part of an app, and stays"`
	// Service is the result for the Service.
	Service string `json:"service" enum:"deleted,gone,foreign" doc:"Result for the Service: foreign is an object of that name that is not part of an app, and stays"`
}

// AppParts are the two parts of an app, either of which may be nil.
type AppParts struct {
	// Namespace and Name of the app.
	Namespace, Name string
	// Deployment and Service as JSON.
	Deployment, Service []byte
}

// Pair joins Deployments and Services of the same name. Both lists are ordered by namespace and name, and so is the result.
func Pair(deployments, services []*Item) []AppParts {
	var out []AppParts
	for len(deployments)+len(services) > 0 {
		var next AppParts
		order := 1
		switch {
		case len(services) == 0:
			order = -1
		case len(deployments) > 0:
			order = Compare(deployments[0], services[0])
		}
		if order <= 0 {
			next = AppParts{Namespace: deployments[0].Namespace, Name: deployments[0].Name, Deployment: deployments[0].JSON}
			deployments = deployments[1:]
		}
		if order >= 0 {
			next.Namespace, next.Name, next.Service = services[0].Namespace, services[0].Name, services[0].JSON
			services = services[1:]
		}
		out = append(out, next)
	}
	return out
}
