// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
)

// testVM is the article's manifest, and testVMFinalizer the one of its last part.
const (
	testVM = `apiVersion: cloudnative.tw/v1alpha1
kind: VirtualMachine
metadata:
  name: test-vm
spec:
  resource:
    cpu: 2
    memory: 4G
    rootDisk: 40G
`
	testVMFinalizer = `apiVersion: cloudnative.tw/v1alpha1
kind: VirtualMachine
metadata:
  name: test-vm-finalizer
  finalizers:
  - finalizer.cloudnative.tw
spec:
  resource:
    cpu: 2
    memory: 4G
`
)

// machineBecomes waits until a VirtualMachine is in the phase, and returns it.
func (c *cluster) machineBecomes(t *testing.T, name string, phase cloudnativev1alpha1.Phase) *cloudnativev1alpha1.VirtualMachine {
	t.Helper()
	vm := &cloudnativev1alpha1.VirtualMachine{}
	eventually(t, fmt.Sprintf("VirtualMachine %s is %s", name, phase), func(ctx context.Context) error {
		if err := c.Client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: name}, vm); err != nil {
			return err
		}
		if vm.Status.Phase != phase || vm.Status.ObservedGeneration != vm.Generation {
			return fmt.Errorf("its status is %+v", vm.Status)
		}
		return nil
	})
	return vm
}

func (c *cluster) machineGone(t *testing.T, name string) {
	t.Helper()
	eventually(t, "VirtualMachine "+name+" is gone", func(ctx context.Context) error {
		vm := &cloudnativev1alpha1.VirtualMachine{}
		err := c.Client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: name}, vm)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, fmt.Errorf("its status is %+v", vm.Status))
	})
}

func TestVirtualMachineOfTheArticle(t *testing.T) {
	c := need(t)
	metrics := freeAddress(t)
	m := c.startManager(t, "--vm-driver=simulated", "--vm-sample-period=1s", "--metrics-bind-address="+metrics).ready()
	c.apply(t, testVM)
	vm := c.machineBecomes(t, "test-vm", cloudnativev1alpha1.PhaseActive)
	if !apimeta.IsStatusConditionTrue(vm.Status.Conditions, status.Ready) || vm.Status.Server.Driver != cloudnativev1alpha1.DriverSimulated {
		t.Errorf("the status is %+v", vm.Status)
	}
	t.Run("the columns are the article's, with Ready and its reason", func(t *testing.T) {
		eventually(t, "the usage is there", func(ctx context.Context) error {
			if err := c.Client.Get(ctx, client.ObjectKeyFromObject(vm), vm); err != nil || vm.Status.Server.Usage == nil {
				return errors.Join(err, errors.New("there is none"))
			}
			return nil
		})
		lines := strings.Split(strings.TrimSpace(c.do(t, "get", "vms")), "\n")
		if diff := cmp.Diff([]string{"NAME", "STATUS", "READY", "REASON", "CPU", "MEMORY", "AGE"}, strings.Fields(lines[0])); diff != "" {
			t.Errorf("columns (-want +got):\n%s", diff)
		}
		fields := strings.Fields(lines[1])
		if len(fields) != 7 || !cmp.Equal([]string{"test-vm", "Active", "True", "Ready"}, fields[:4]) {
			t.Fatalf("the line is %q", lines[1])
		}
		for _, usage := range fields[4:6] { // in percent, as people read it: one decimal at most
			if !regexp.MustCompile(`^\d+(\.\d)?$`).MatchString(usage) {
				t.Errorf("the usage %q of the line %q is not a percentage", usage, lines[1])
			}
		}
		wide := strings.Fields(strings.Split(c.do(t, "get", "vm", "test-vm", "-o", "wide"), "\n")[0])
		if diff := cmp.Diff([]string{"NAME", "STATUS", "READY", "REASON", "CPU", "MEMORY", "AGE", "DRIVER", "HOST", "ADDRESS"}, wide); diff != "" {
			t.Errorf("wide columns (-want +got):\n%s", diff)
		}
	})
	t.Run("the finalizer is there", func(t *testing.T) {
		if got := c.do(t, "get", "vm", "test-vm", "-o", "jsonpath={.metadata.finalizers}"); got != `["finalizer.cloudnative.tw"]` {
			t.Errorf("got %s", got)
		}
	})
	t.Run("the metrics tell of it", func(t *testing.T) {
		eventually(t, "the metrics are there", func(ctx context.Context) error { return hasMetrics(ctx, metrics) })
	})
	t.Run("it can be turned off and on", func(t *testing.T) {
		c.do(t, "patch", "vm", "test-vm", "--type=merge", "-p", `{"spec":{"runStrategy":"Halted"}}`)
		c.machineBecomes(t, "test-vm", cloudnativev1alpha1.PhaseStopped)
		c.do(t, "patch", "vm", "test-vm", "--type=merge", "-p", `{"spec":{"runStrategy":"Always"}}`)
		c.machineBecomes(t, "test-vm", cloudnativev1alpha1.PhaseActive)
	})
	t.Run("deletion waits for the manager and is made up for", func(t *testing.T) {
		m.kill()
		c.do(t, "delete", "vm", "test-vm", "--wait=false")
		if got := c.do(t, "get", "vm", "test-vm", "-o", "jsonpath={.metadata.deletionTimestamp}"); got == "" {
			t.Error("it is not being deleted")
		}
		c.startManager(t, "--vm-driver=simulated")
		c.machineGone(t, "test-vm")
	})
}

// The manager ended at a mistake in its hosts file, and with it every controller that has no use for hosts.
func TestBadHostsFileStopsNoOtherController(t *testing.T) {
	c := need(t)
	file := filepath.Join(t.TempDir(), "hosts.yaml")
	if err := os.WriteFile(file, []byte("hosts: [{name: rack-1, driver: simulated}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := c.startManager(t, "--vm-hosts="+file).ready()
	c.apply(t, testVM)
	c.apply(t, fmt.Sprintf(podSetManifest, "beside", 1))
	c.podSetBecomes(t, "beside", 1)
	vm := c.machineBecomes(t, "test-vm", cloudnativev1alpha1.PhasePending)
	const problem = `hosts[0] "rack-1": endpoint is missing`
	ready := apimeta.FindStatusCondition(vm.Status.Conditions, status.Ready)
	if ready == nil || ready.Reason != cloudnativev1alpha1.ReasonHostNotConfigured || !strings.Contains(ready.Message, problem) {
		t.Errorf("the machine says %+v, want %s because of %s", ready, cloudnativev1alpha1.ReasonHostNotConfigured, problem)
	}
	if log := m.read(); !strings.Contains(log, "endpoint is missing") {
		t.Errorf("the log does not tell the problem:\n%s", log)
	}
	c.remove(t, "podset", "beside")
	c.do(t, "delete", "vm", "test-vm") // which has no machine, hence nothing to wait for
}

// hasMetrics returns what is missing of the metrics of the article's machine.
func hasMetrics(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	of := `{name="test-vm",namespace="default"`
	for _, metric := range []string{
		`windlass_vm_info{driver="simulated",host="default",name="test-vm",namespace="default"} 1`,
		`windlass_vm_phase` + of + `,phase="Active"} 1`,
		`windlass_vm_cpu_seconds_total` + of, `windlass_vm_cpu_usage_cores` + of, `windlass_vm_cpu_limit_cores` + of + `} 2`,
		`windlass_vm_memory_working_set_bytes` + of, `windlass_vm_memory_limit_bytes` + of + `} 4e+09`,
		`windlass_vm_sample_age_seconds` + of, `windlass_vm_host_up{host="default"} 1`,
		`windlass_vm_driver_call_duration_seconds_count{call="create",host="default"}`,
	} {
		if !strings.Contains(string(body), metric) {
			err = errors.Join(err, fmt.Errorf("there is no %s", metric))
		}
	}
	return err
}

func TestVirtualMachineWithTheFinalizerOfAUser(t *testing.T) {
	c := need(t)
	c.startManager(t, "--vm-driver=simulated")
	c.apply(t, testVMFinalizer)
	c.machineBecomes(t, "test-vm-finalizer", cloudnativev1alpha1.PhaseActive)
	c.do(t, "delete", "vm", "test-vm-finalizer")
	c.machineGone(t, "test-vm-finalizer")
}

// TestRightsOfVirtualMachines uses every right that the article's machine does not need: a Secret, and the list of machines that
// stay. That the manager was refused nothing is checked when it ends.
func TestRightsOfVirtualMachines(t *testing.T) {
	c := need(t)
	c.startManager(t, "--vm-driver=simulated")
	c.apply(t, `apiVersion: cloudnative.tw/v1alpha1
kind: VirtualMachine
metadata: {name: private, namespace: default}
spec:
  resource: {cpu: 1, memory: 1G}
  image: {name: nginx, pullSecret: {name: registry}}
  deletionPolicy: Retain
`)
	vm := c.machineBecomes(t, "private", cloudnativev1alpha1.PhasePending)
	waitsFor := func(what string) {
		t.Helper()
		eventually(t, "it waits for "+what, func(ctx context.Context) error {
			if err := c.Client.Get(ctx, client.ObjectKeyFromObject(vm), vm); err != nil {
				return err
			}
			ready := apimeta.FindStatusCondition(vm.Status.Conditions, status.Ready)
			if ready == nil || !strings.Contains(vm.Status.Reason, what) {
				return fmt.Errorf("the status is %+v", vm.Status)
			}
			return nil
		})
	}
	allow := "create rolebinding windlass-secrets --clusterrole=windlass-secret-reader --serviceaccount=" + namespace + ":windlass"
	waitsFor(`permission to read Secret "registry". To give it, run: kubectl -n default ` + allow)
	c.do(t, append([]string{"-n", metav1.NamespaceDefault}, strings.Fields(allow)...)...)
	t.Cleanup(func() {
		c.Run(context.WithoutCancel(t.Context()), c.Kubectl, "-n", metav1.NamespaceDefault, "delete", "rolebinding", "windlass-secrets")
	})
	waitsFor(`Secret "registry" to be created`)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "registry"},
		Type:       corev1.SecretTypeDockerConfigJson,
		Data:       map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{}}`)},
	}
	if err := c.Client.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Client.Delete(context.WithoutCancel(t.Context()), secret) })
	c.machineBecomes(t, "private", cloudnativev1alpha1.PhaseActive)
	c.do(t, "delete", "vm", "private")
	c.machineGone(t, "private")
	list := &corev1.ConfigMap{}
	if err := c.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "windlass-retained-machines"}, list); err != nil {
		t.Fatal(err)
	}
	if got := list.Data[string(vm.UID)]; got != "simulated/default default/private" {
		t.Errorf("the list of machines that stay says %q", got)
	}
}
