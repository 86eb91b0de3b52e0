// Command publish runs the configurations of docs/publish.md: nginx, Caddy, a
// proxy that forwards nothing, and certificates of an authority for tests, each
// before this program as it serves the public. Through every one it sends what
// must not pass, ten visitors, and headers that a visitor makes up. Run it with
// ".ci/extra publish"; a server that is not on the PATH is skipped.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"flag"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() {
	out := flag.String("out", "", "write the report to this file, too")
	only := flag.String("only", "", "try this alone: a server's name, or authority")
	flag.Parse()
	report, err := run(*only)
	fmt.Print(report)
	if err == nil && *out != "" && *only == "" {
		err = os.WriteFile(*out, []byte(report), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "publish:", err)
		os.Exit(1)
	}
}

const host = "help.example.org"

// front is a way in which the public reaches the program.
type front struct {
	name    string
	program string // that it needs; "" for none
	trusted bool   // the configuration names it
	// start starts it before upstream, in a folder of its own; it returns where
	// visitors connect to, and what it runs, which may be nil.
	start func(b *bench, dir, upstream string) (addr string, cmd *exec.Cmd, err error)
	plain bool // visitors speak HTTP without TLS
}

var fronts = []front{
	{name: "nginx", program: "nginx", trusted: true, start: startNginx},
	{name: "Caddy", program: "caddy", trusted: true, start: startCaddy},
	{name: "nginx that forwards nothing", program: "nginx", start: startSilent, plain: true},
	{name: "no proxy", start: func(_ *bench, _, upstream string) (string, *exec.Cmd, error) { return upstream, nil, nil }, plain: true},
}

// bench is what all fronts share.
type bench struct {
	tmp, bin  string
	cert, key string
	pool      *x509.CertPool
	page      string // docs/publish.md
}

func run(only string) (string, error) {
	tmp, err := os.MkdirTemp("", "publish")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	if err := os.Chmod(tmp, 0o755); err != nil { // the workers of nginx are another user
		return "", err
	}
	b := &bench{tmp: tmp, bin: filepath.Join(tmp, "knowledge")}
	if out, err := exec.Command("go", "build", "-o", b.bin, "./cmd/knowledge").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s", out)
	}
	page, err := os.ReadFile("docs/publish.md")
	if err != nil {
		return "", err
	}
	b.page = string(page)
	if err := b.certificate(); err != nil {
		return "", err
	}
	if err := b.stores(); err != nil {
		return "", err
	}
	var report strings.Builder
	fmt.Fprintf(&report, "# On a public site, %s\n\n", time.Now().UTC().Format("2006-01-02"))
	fmt.Fprint(&report, "| before the program | what must not pass: tried | passed | of ten visitors, thirty requests each | a made-up header makes | first sentence after the first byte |\n|---|---|---|---|---|---|\n")
	var failed []string
	for _, f := range fronts {
		if only != "" && only != f.name {
			continue
		}
		if f.program != "" {
			if _, err := exec.LookPath(f.program); err != nil {
				fmt.Fprintf(&report, "| %s | skipped: there is no %s | | | | |\n", f.name, f.program)
				continue
			}
		}
		line, wrong, err := b.try(f)
		if err != nil {
			return report.String(), fmt.Errorf("%s: %w", f.name, err)
		}
		report.WriteString(line)
		failed = append(failed, wrong...)
	}
	if only == "" || only == "authority" {
		line, err := b.authority()
		if err != nil {
			return report.String(), fmt.Errorf("authority: %w", err)
		}
		fmt.Fprintf(&report, "\nCertificates of an authority: %s.\n", line)
	}
	if only == "" || only == "systemd" {
		line, err := b.unit()
		if err != nil {
			return report.String(), fmt.Errorf("systemd: %w", err)
		}
		fmt.Fprintf(&report, "\nThe unit of systemd: %s.\n", line)
	}
	if len(failed) > 0 {
		return report.String(), fmt.Errorf("%s", strings.Join(failed, "; "))
	}
	return report.String(), nil
}

// unit has systemd verify the unit of the page, with this program in the place of
// the installed one, and returns what it thinks of how far it is closed.
func (b *bench) unit() (string, error) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		return "skipped: there is no systemd-analyze", nil
	}
	file := filepath.Join(b.tmp, "answers.service")
	text := strings.ReplaceAll(b.block("ini"), "/usr/local/bin/knowledge", b.bin)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return "", err
	}
	if out, err := exec.Command("systemd-analyze", "verify", file).CombinedOutput(); err != nil || len(out) > 0 {
		return "", fmt.Errorf("%s %w", out, err)
	}
	out, err := exec.Command("systemd-analyze", "security", "--offline=true", file).CombinedOutput()
	m := regexp.MustCompile(`exposure level for .*: ([0-9.]+ \w+)`).FindSubmatch(out)
	if err != nil || m == nil {
		return "verified", nil
	}
	return "verified; exposure " + string(m[1]), nil
}

// block returns the block of docs/publish.md in a language.
func (b *bench) block(language string) string {
	m := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindStringSubmatch(b.page)
	if m == nil {
		return ""
	}
	return m[1]
}

// certificate makes one for the host, which visitors trust.
func (b *bench) certificate() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host, "localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	b.cert, b.key = filepath.Join(b.tmp, "cert.pem"), filepath.Join(b.tmp, "key.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	b.pool = x509.NewCertPool()
	b.pool.AppendCertsFromPEM(text)
	if err := os.WriteFile(b.cert, text, 0o644); err != nil {
		return err
	}
	return os.WriteFile(b.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), 0o600)
}

func startNginx(b *bench, dir, upstream string) (string, *exec.Cmd, error) {
	addr := free()
	conf := strings.NewReplacer("443 ssl", addr+" ssl", "127.0.0.1:8080", upstream,
		"/etc/ssl/"+host+".pem", b.cert, "/etc/ssl/"+host+".key", b.key).Replace(b.block("nginx"))
	cmd, err := nginx(dir, conf, addr)
	return addr, cmd, err
}

func startSilent(_ *bench, dir, upstream string) (string, *exec.Cmd, error) {
	addr := free()
	cmd, err := nginx(dir, "server { listen "+addr+"; location / { proxy_pass http://"+upstream+"; } }", addr)
	return addr, cmd, err
}

// nginx starts nginx with one server.
func nginx(dir, server, addr string) (*exec.Cmd, error) {
	conf := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf("daemon off;\npid %[1]s/pid;\nerror_log %[1]s/error.log;\nevents {}\nhttp {\naccess_log off;\nclient_body_temp_path %[1]s/b;\nproxy_temp_path %[1]s/p;\n"+
		"fastcgi_temp_path %[1]s/f;\nuwsgi_temp_path %[1]s/u;\nscgi_temp_path %[1]s/s;\n%s}\n", dir, server)
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		return nil, err
	}
	cmd := exec.Command("nginx", "-p", dir, "-e", filepath.Join(dir, "error.log"), "-c", conf)
	return cmd, begin(cmd, addr)
}

func startCaddy(b *bench, dir, upstream string) (string, *exec.Cmd, error) {
	addr := free()
	_, port, _ := net.SplitHostPort(addr)
	conf := strings.NewReplacer("127.0.0.1:8080", upstream, host+" {\n", host+":"+port+" {\n\tbind 127.0.0.1\n\ttls "+b.cert+" "+b.key+"\n").Replace(b.block("caddy"))
	file := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(file, []byte("{\n\tadmin off\n\tauto_https disable_redirects\n}\n"+conf), 0o644); err != nil {
		return "", nil, err
	}
	cmd := exec.Command("caddy", "run", "--config", file, "--adapter", "caddyfile")
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	return addr, cmd, begin(cmd, addr)
}

// begin starts a server and waits until it listens.
func begin(cmd *exec.Cmd, addr string) error {
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return err
	}
	for range 400 {
		if c, err := net.Dial("tcp", addr); err == nil {
			return c.Close()
		}
		time.Sleep(25 * time.Millisecond)
	}
	stop(cmd)
	return fmt.Errorf("it does not listen: %s", said.String())
}

func stop(cmd *exec.Cmd) {
	if cmd != nil && cmd.Process != nil {
		_ = cmd.Process.Signal(os.Interrupt)
		done := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		done.Stop()
	}
}

// free returns an address of loopback that nothing listens on.
func free() string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "127.0.0.1:1"
	}
	defer ln.Close()
	return ln.Addr().String()
}

// tls trusts the certificate that was made.
func (b *bench) tls() *tls.Config { return &tls.Config{RootCAs: b.pool, ServerName: host} }
