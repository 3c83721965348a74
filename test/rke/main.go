// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command rke is the Rancher Kubernetes Engine 1.8.0, built from its Go module: the real tool behind the preset rke, for tests. It
// knows the two commands that the preset calls, up and remove, and its version. Nothing of Windlass imports it.
package main

import (
	"os"

	"github.com/rancher/rke/cmd"
	"github.com/rancher/rke/metadata"
	"github.com/sirupsen/logrus"
	"github.com/urfave/cli"
)

// version is that of the module in go.mod. RKE picks the versions of Kubernetes that it offers by it.
const version = "v1.8.0"

func main() {
	logrus.SetOutput(os.Stdout) // as RKE has it
	metadata.RKEVersion = version
	app := cli.NewApp()
	app.Name, app.Version, app.Usage = "rke", version, "provision Kubernetes on machines with Docker, through SSH"
	app.Commands = []cli.Command{cmd.UpCommand(), cmd.RemoveCommand()}
	if err := app.Run(os.Args); err != nil {
		logrus.Fatal(err)
	}
}
