// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// privateFolder is the mode of a folder that the plugin makes.
const privateFolder = 0o700

// kubeconfigFile is a kubeconfig, which is empty if the file is missing.
type kubeconfigFile struct {
	path    string
	content *clientcmdapi.Config
	missing bool
}

// mergeKubeconfig adds the current context of a kubeconfig to the file, under the name. Readers see the file before or after, never in
// between, and kubectl does not change it meanwhile. Without force, whatever has the name already keeps it, also in the other files of kubectl.
func mergeKubeconfig(path, name string, content []byte, force bool) error {
	more, err := clientcmd.Load(content)
	if err != nil {
		return errors.New("cannot parse the kubeconfig of the cluster") // the cause may quote a credential
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	if err := os.MkdirAll(filepath.Dir(path), privateFolder); err != nil {
		return fmt.Errorf("cannot make the folder of the kubeconfig: %w", err)
	}
	unlock, err := lockKubeconfig(path)
	if err != nil {
		return err
	}
	defer unlock()
	all, err := readKubeconfigs(path)
	if err != nil {
		return err
	}
	for _, each := range all {
		if what := present(each.content, name); what != "" && !force {
			return fmt.Errorf("%s has the %s %q already: give another --name, or --force to replace it", each.path, what, name)
		}
	}
	from := more.Contexts[more.CurrentContext] // which is there: the kubeconfig was checked
	if from == nil || more.Clusters[from.Cluster] == nil || more.AuthInfos[from.AuthInfo] == nil {
		return errors.New("the kubeconfig of the cluster has no complete current context")
	}
	into := all[0].content
	if all[0].missing && !slices.ContainsFunc(all, func(each kubeconfigFile) bool { return each.content.CurrentContext != "" }) {
		into.CurrentContext = name
	}
	into.Clusters[name], into.AuthInfos[name] = more.Clusters[from.Cluster], more.AuthInfos[from.AuthInfo]
	into.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: from.Namespace}
	raw, err := clientcmd.Write(*into)
	if err != nil {
		return fmt.Errorf("cannot encode kubeconfig %q: %w", path, err)
	}
	return replaceFile(path, raw)
}

// readKubeconfigs reads the file, and then those that kubectl reads together with it: what is in one of them hides what has its name in later
// ones, and contexts of one use clusters and users of others.
func readKubeconfigs(path string) ([]kubeconfigFile, error) {
	paths, together := []string{path}, false
	for _, each := range clientcmd.NewDefaultClientConfigLoadingRules().Precedence {
		switch {
		case each == "": // which kubectl takes for no file
		case samePath(each, path):
			together = true
		default:
			paths = append(paths, each)
		}
	}
	if !together {
		paths = paths[:1]
	}
	out := make([]kubeconfigFile, 0, len(paths))
	for _, each := range paths {
		content, err := clientcmd.LoadFromFile(each)
		missing := errors.Is(err, fs.ErrNotExist)
		switch {
		case missing:
			content = clientcmdapi.NewConfig()
		case err != nil:
			return nil, fmt.Errorf("cannot read kubeconfig %q: %w", each, err)
		}
		out = append(out, kubeconfigFile{path: each, content: content, missing: missing})
	}
	return out, nil
}

// samePath reports whether two paths lead to one file, which need not exist.
func samePath(one, other string) bool { return wholePath(one) == wholePath(other) }

func wholePath(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return whole
}

// present says what a kubeconfig has under the name, empty for nothing.
func present(in *clientcmdapi.Config, name string) string {
	switch {
	case in.Contexts[name] != nil:
		return "context"
	case in.Clusters[name] != nil:
		return "cluster"
	case in.AuthInfos[name] != nil:
		return "user"
	}
	return ""
}

// lockKubeconfig keeps kubectl, which takes the same lock, from changing the file.
func lockKubeconfig(path string) (unlock func(), err error) {
	lock := path + ".lock"
	file, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0) //nolint:gosec // because the path is the caller's own choice
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("another program is changing kubeconfig %q: if none is, delete %q", path, lock)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot lock kubeconfig %q: %w", path, err)
	}
	return func() {
		_ = file.Close()
		_ = os.Remove(lock)
	}, nil
}

// replaceFile replaces a file as a whole, readable by its owner only.
func replaceFile(path string, content []byte) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // which nobody else can read
	if err != nil {
		return fmt.Errorf("cannot write kubeconfig %q: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
			err = fmt.Errorf("cannot write kubeconfig %q: %w", path, err)
		}
	}()
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
