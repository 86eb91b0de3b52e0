package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// The manifests are what the API of Kubernetes takes, to the last field, and what
// they say of each other agrees.
func TestManifests(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, networkingv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	strict := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	files, err := filepath.Glob("../../packaging/team/kubernetes/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	found := map[string]runtime.Object{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
		for {
			doc, err := docs.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			o, kind, err := strict.Decode(doc, nil, nil)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			found[kind.Kind] = o
		}
		misspelt := strings.Replace(string(text), "automountServiceAccountToken", "automountServiceAcountToken", 1)
		if _, _, err := strict.Decode([]byte(strings.SplitN(misspelt, "\n---", 2)[0]), &schema.GroupVersionKind{}, nil); err == nil && misspelt != string(text) {
			t.Error("a misspelt field is taken")
		}
	}
	d, ok := found["Deployment"].(*appsv1.Deployment)
	config, ok2 := found["ConfigMap"].(*corev1.ConfigMap)
	service, ok3 := found["Service"].(*corev1.Service)
	if !ok || !ok2 || !ok3 {
		t.Fatalf("%v", found)
	}
	pod := d.Spec.Template.Spec
	c := pod.Containers[0]
	switch {
	case *d.Spec.Replicas != 1 || d.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType:
		t.Error("there must be one process on the volume")
	case *pod.TerminationGracePeriodSeconds <= 25:
		t.Error("the server takes 25 s to stop")
	case c.ReadinessProbe.HTTPGet.Path != "/readyz" || c.LivenessProbe.HTTPGet.Path != "/healthz":
		t.Error("the probes ask elsewhere")
	case service.Spec.Ports[0].TargetPort.StrVal != c.Ports[0].Name || service.Spec.Selector["app"] != d.Spec.Template.Labels["app"]:
		t.Error("the service leads elsewhere")
	case !strings.HasSuffix(c.Args[2], ":7443") || c.Ports[0].ContainerPort != 7443:
		t.Error("the port is another")
	}
	var file struct{ Team map[string]any }
	if err := yaml.UnmarshalStrict([]byte(config.Data["config.yaml"]), &file); err != nil || file.Team["rights"] != "/config/rights.yaml" || config.Data["rights.yaml"] == "" {
		t.Errorf("%v %v", file, err)
	}
}

// The compose file is one, and the server in it is reached through the proxy alone.
func TestCompose(t *testing.T) {
	project, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir: "../../packaging/team", ConfigFiles: []types.ConfigFile{{Filename: "../../packaging/team/compose.yaml"}},
	}, func(o *loader.Options) { o.SetProjectName("knowledge", true) })
	if err != nil {
		t.Fatal(err)
	}
	k, err := project.GetService("knowledge")
	if err != nil || len(k.Ports) > 0 || !k.ReadOnly || strings.Join(k.Command, " ") != "serve --team 0.0.0.0:7443" {
		t.Errorf("%+v %v", k, err)
	}
	inside := project.Networks["inside"].Ipam.Config[0].Subnet
	config, err := os.ReadFile("../../packaging/team/config/config.yaml")
	if err != nil || !strings.Contains(string(config), inside) {
		t.Errorf("the proxy's network %s is not trusted: %v", inside, err)
	}
}

// The units are what systemd takes.
func TestUnits(t *testing.T) {
	verify, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze")
	}
	units, err := filepath.Glob("../../packaging/team/knowledge-*")
	if err != nil || len(units) != 3 {
		t.Fatal(units, err)
	}
	dir, args := t.TempDir(), []string{"verify"}
	for _, u := range units {
		text, err := os.ReadFile(u)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, filepath.Join(dir, filepath.Base(u)))
		if err := os.WriteFile(args[len(args)-1], bytes.ReplaceAll(text, []byte("/usr/local/bin/knowledge"), []byte("/bin/true")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(verify, args...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%s %v", out, err)
	}
}
