// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

// stories are what series do, by alert.
func stories() map[string]map[string]story {
	none := []string{}
	return map[string]map[string]story{
		"WindlassHasNoLeader": {
			"nobody publishes":           {`windlass_build_info{version="v1"} 1+0x30`, 5, []string{"No instance of Windlass works."}},
			"a leader that goes":         {`windlass_resource_deleting{kind="NodePool"} 0x10`, 25, []string{"No instance of Windlass works."}},
			"a leader":                   {`windlass_resource_deleting{kind="NodePool"} 0x30`, 30, none},
			"a takeover of four minutes": {"windlass_resource_deleting{instance=\"a\"} 0x5\nwindlass_resource_deleting{instance=\"b\"} _x9 0x20", 14, none},
		},
		"WindlassObjectsAreStalled": {
			"two of one reason": {
				`windlass_resource_conditions{kind="Cluster", condition="Stalled", status="True", reason="BinaryMissing"} 2x20`, 15,
				[]string{"2 Cluster objects wait for a person: BinaryMissing."},
			},
			"for ten minutes":  {`windlass_resource_conditions{kind="Cluster", condition="Stalled", status="True", reason="BinaryMissing"} 0x5 2x15`, 15, none},
			"nothing stalls":   {`windlass_resource_conditions{kind="Cluster", condition="Stalled", status="False", reason="Ready"} 2x60`, 60, none},
			"other conditions": {`windlass_resource_conditions{kind="Cluster", condition="Ready", status="True", reason="Ready"} 2x60`, 60, none},
		},
		"WindlassObjectsAreNotReady": {
			"for an hour": {
				`windlass_resource_conditions{kind="PodSet", condition="Ready", status="False", reason="RollingOut"} 1x70`, 60,
				[]string{"For an hour there have been PodSet objects that are not ready, now 1: RollingOut."},
			},
			"for half an hour": {`windlass_resource_conditions{kind="PodSet", condition="Ready", status="False", reason="RollingOut"} 1x70`, 30, none},
			"ready":            {`windlass_resource_conditions{kind="PodSet", condition="Ready", status="True", reason="Ready"} 1x70`, 70, none},
		},
		"WindlassDeletionHangs": {
			"for more than an hour": {
				`windlass_resource_deletion_age_seconds{kind="VirtualMachine"} 0+60x80`, 70,
				[]string{"The deletion of a VirtualMachine has not ended for an hour."},
			},
			"for half an hour": {`windlass_resource_deletion_age_seconds{kind="VirtualMachine"} 0+60x30`, 30, none},
			"none":             {`windlass_resource_deletion_age_seconds{kind="VirtualMachine"} 0x80`, 80, none},
		},
		"WindlassHostIsDown": {
			"one of two": {
				"windlass_vm_host_up{host=\"a\"} 1x20\nwindlass_vm_host_up{host=\"b\"} 1x3 0x20", 10, []string{"The host b of virtual machines does not answer."},
			},
			"a pause of three minutes": {`windlass_vm_host_up{host="b"} 1x3 0x2 1x20`, 20, none},
		},
		"WindlassMachinesAreOrphaned": {
			"three":      {`windlass_vm_orphans{host="a"} 3x40`, 30, []string{"3 machines on the host a belong to no VirtualMachine."}},
			"none":       {`windlass_vm_orphans{host="a"} 0x40`, 40, none},
			"for a time": {`windlass_vm_orphans{host="a"} 3x20 0x20`, 40, none},
		},
		"WindlassReconciliationsFail": {
			"twelve a minute": {
				`controller_runtime_reconcile_errors_total{controller="podset"} 0+12x40`, 30, []string{"The controller podset fails again and again."},
			},
			"one a minute":           {`controller_runtime_reconcile_errors_total{controller="podset"} 0+1x40`, 40, none},
			"somebody else's errors": {`controller_runtime_reconcile_errors_total{controller="other"} 0+12x40`, 40, none},
		},
		"WindlassWritesAreRefused": {
			"a right is missing": {
				`windlass_api_writes_total{verb="patch", resource="nodes", code="403"} 0+6x40`, 30,
				[]string{"The API server does not take writes of Windlass: patch nodes ends with 403."},
			},
			"no answer": {
				`windlass_api_writes_total{verb="create", resource="events", code="error"} 0+6x40`, 30,
				[]string{"The API server does not take writes of Windlass: create events ends with error."},
			},
			"conflicts":                   {`windlass_api_writes_total{verb="patch", resource="nodes", code="409"} 0+6x40`, 40, none},
			"what is written":             {`windlass_api_writes_total{verb="patch", resource="nodes", code="200"} 0+60x40`, 40, none},
			"a restart of the API server": {`windlass_api_writes_total{verb="patch", resource="nodes", code="503"} 0+6x3 18x40`, 40, none},
		},
		"WindlassDrainIsBlocked": {
			"all are refused": {
				`windlass_nodepool_evictions_total{pool="gold", outcome="refused"} 0+12x80`, 60,
				[]string{"Disruption budgets let no pod leave a node of the pool gold."},
			},
			"some go": {
				"windlass_nodepool_evictions_total{pool=\"gold\", outcome=\"refused\"} 0+12x80\n" +
					"windlass_nodepool_evictions_total{pool=\"gold\", outcome=\"evicted\"} 0+1x80", 80, none,
			},
			"another pool's go": {
				"windlass_nodepool_evictions_total{pool=\"gold\", outcome=\"refused\"} 0+12x80\n" +
					"windlass_nodepool_evictions_total{pool=\"iron\", outcome=\"evicted\"} 0+1x80", 60,
				[]string{"Disruption budgets let no pod leave a node of the pool gold."},
			},
			"the drain has ended": {`windlass_nodepool_evictions_total{pool="gold", outcome="refused"} 0+12x20 240x80`, 100, none},
		},
		"WindlassRunsFail": {
			"four in an hour": {
				`windlass_cluster_run_duration_seconds_count{operation="up", outcome="failed"} 0x9 1x9 2x9 3x9 4x20`, 50,
				[]string{"Provisioning tools fail: up."},
			},
			"one":               {`windlass_cluster_run_duration_seconds_count{operation="up", outcome="failed"} 0x9 1x60`, 60, none},
			"runs that succeed": {`windlass_cluster_run_duration_seconds_count{operation="up", outcome="succeeded"} 0+1x60`, 60, none},
		},
		"WindlassRunsWait": {
			"for an hour": {
				"windlass_cluster_runs{state=\"waiting\"} 2x70\nwindlass_cluster_runs{state=\"running\"} 5x70", 60,
				[]string{"For an hour Clusters have been waiting until the provisioning tools of others end, now 2."},
			},
			"nobody waits": {"windlass_cluster_runs{state=\"waiting\"} 0x70\nwindlass_cluster_runs{state=\"running\"} 5x70", 70, none},
			"half an hour": {`windlass_cluster_runs{state="waiting"} 2x70`, 30, none},
		},
	}
}
