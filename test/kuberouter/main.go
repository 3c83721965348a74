// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command kuberouter enforces NetworkPolicies on a node, with the controller of kube-router: what a network plugin does in a real cluster, for
// tests. It writes the packet filter of the network namespace that it runs in, so tests give it one of their own. It ends when its standard input
// does. Nothing of Windlass imports it.
//
//	kuberouter -kubeconfig FILE -node NAME
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/cloudnativelabs/kube-router/v2/pkg/controllers/netpol"
	"github.com/cloudnativelabs/kube-router/v2/pkg/healthcheck"
	"github.com/cloudnativelabs/kube-router/v2/pkg/options"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig, node := flag.String("kubeconfig", "", "`file` of an administrator"), flag.String("node", "", "`name` of the node")
	flag.Parse()
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // which ends with the test, however that ends
		stop()
	}()
	if err := enforce(ctx, *kubeconfig, *node); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func enforce(ctx context.Context, kubeconfig, node string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("cannot use kubeconfig %q: %w", kubeconfig, err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	settings := options.NewKubeRouterConfig()
	settings.HostnameOverride, settings.EnableIPv4, settings.IPTablesSyncPeriod = node, true, time.Minute
	tables, sets, err := netpol.NewIPTablesHandlers(settings)
	if err != nil {
		return fmt.Errorf("cannot use iptables and ipset: %w", err)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	pods, namespaces := factory.Core().V1().Pods().Informer(), factory.Core().V1().Namespaces().Informer()
	policies := factory.Networking().V1().NetworkPolicies().Informer()
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("cannot list %s", kind)
		}
	}
	controller, err := netpol.NewNetworkPolicyController(client, settings, pods, policies, namespaces, &sync.Mutex{}, tables, sets)
	if err != nil {
		return fmt.Errorf("cannot make the controller: %w", err)
	}
	for informer, handler := range map[cache.SharedIndexInformer]cache.ResourceEventHandler{
		pods: controller.PodEventHandler, namespaces: controller.NamespaceEventHandler, policies: controller.NetworkPolicyEventHandler,
	} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return fmt.Errorf("cannot watch: %w", err)
		}
	}
	run(ctx, controller)
	return nil
}

// run runs the controller until the context ends.
func run(ctx context.Context, controller *netpol.NetworkPolicyController) {
	heartbeats := make(chan *healthcheck.ControllerHeartbeat)
	var running sync.WaitGroup
	running.Add(1)
	go controller.Run(heartbeats, ctx.Done(), &running)
	go func() { running.Wait(); close(heartbeats) }()
	for range heartbeats {
		continue // it does not go on unless somebody takes its heartbeats
	}
}
