package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/web/browser/browsertest"
)

// stranger is a page that tries to read from the server and to change what it
// holds in every way that a browser has, the token guessed and left out. got
// takes what it could read; it is over when done is set.
const stranger = `<!doctype html><meta charset=utf-8><title>a stranger</title><body><script>
window.got=[];window.done=0;
const to=ADDR, evil=NAME, ways=[];
const body=JSON.stringify({name:evil,source:FOLDER,type:'file',yes:true});
const read=(way,r)=>r.text().then(t=>{if(r.status||t)got.push(way+' '+r.status+' '+t.slice(0,60))}); // an opaque reply has neither
const commands=['store:create','stores','search','answer:ask','job:cancel','usage','execute'];
for(const mode of ['cors','no-cors']) for(const credentials of ['include','omit']) for(const headers of [{},{'Content-Type':'text/plain'},{'Content-Type':'application/json'},{'Content-Type':'application/json',Authorization:'Bearer guessed'}]) {
  for(const c of commands) ways.push(fetch(to+'/api/commands/'+c,{method:'POST',mode,credentials,headers,body}).then(r=>read('fetch '+mode,r)));
  for(const path of ['/','/health','/api/stores','/api/search?query=order','/api/kdd/graph','/api/jobs','/mcp','/search?q=x','/api/v1/mcp/tools'])
    ways.push(fetch(to+path,{mode,credentials,headers:mode==='cors'?headers:{}}).then(r=>read('fetch '+mode+' '+path,r)));
  ways.push(fetch(to+'/api/stores/shop',{method:'DELETE',mode:'cors',credentials,headers}).then(r=>read('delete',r)));
  ways.push(fetch(to+'/mcp',{method:'POST',mode,credentials,headers,body:'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'}).then(r=>read('mcp',r)));
}
for(const type of ['text/plain','application/x-www-form-urlencoded','application/json']) ways.push(Promise.resolve(navigator.sendBeacon(to+'/api/commands/store:create',new Blob([body],{type}))));
for(const [i,enctype] of ['text/plain','application/x-www-form-urlencoded','multipart/form-data'].entries()) {
  const frame=document.body.appendChild(Object.assign(document.createElement('iframe'),{name:'f'+i}));
  const form=document.body.appendChild(Object.assign(document.createElement('form'),{method:'post',enctype,target:frame.name,action:to+'/api/commands/store:create'}));
  form.append(Object.assign(document.createElement('input'),{name:body.slice(0,-1)+',"x":"',value:'"}'}));
  ways.push(new Promise(r=>{frame.onload=r;setTimeout(r,9000)}).then(()=>{try{const t=frame.contentDocument?.body?.textContent;if(t)got.push('frame '+t.slice(0,60))}catch{}}));
  form.submit();
}
for(const path of ['/','/api/stores','/search?q=order']) {
  const frame=document.body.appendChild(document.createElement('iframe'));
  ways.push(new Promise(r=>{frame.onload=r;setTimeout(r,9000)}).then(()=>{try{const t=frame.contentDocument?.body?.textContent;if(t)got.push('framed '+path+' '+t.slice(0,60))}catch{}}));
  frame.src=to+path;
}
for(const path of ['/api/commands/stores','/api/commands/answer:ask','/mcp']) ways.push(new Promise(r=>{
  const e=new EventSource(to+path,{withCredentials:true});e.onopen=()=>got.push('events '+path);e.onmessage=m=>got.push('event '+m.data);e.onerror=()=>{e.close();r()};setTimeout(r,9000)}));
for(const path of ['/','/mcp','/api/commands/stores']) ways.push(new Promise(r=>{
  try{const s=new WebSocket(to.replace('http','ws')+path);s.onopen=()=>got.push('socket '+path);s.onmessage=m=>got.push('said '+m.data);s.onclose=r}catch{r()}setTimeout(r,9000)}));
const load=(name,set)=>ways.push(new Promise(r=>{const e=document.createElement(name);e.onload=()=>{got.push('loaded '+name+' '+(e.src||e.href||e.data));r()};e.onerror=r;set(e);document.body.append(e);setTimeout(r,9000)}));
for(const path of ['/assets/ICON','/api/stores','/api/commands/stores']) load('img',e=>e.src=to+path);
for(const path of ['/api/stores','/api/commands','/assets/MAIN']) { load('script',e=>e.src=to+path); load('link',e=>{e.rel='stylesheet';e.href=to+path}); }
ways.push(new Promise(r=>{const w=window.open(to+'/stores','_blank');setTimeout(()=>{try{if(w?.document?.body?.textContent)got.push('opened '+w.document.body.textContent.slice(0,60))}catch{}try{w?.postMessage({ask:true},'*')}catch{}r()},800)}));
addEventListener('message',m=>got.push('message '+JSON.stringify(m.data)));
try{const c=new BroadcastChannel('knowledge');c.onmessage=m=>got.push('channel '+JSON.stringify(m.data));c.postMessage({ask:true})}catch{}
Promise.allSettled(ways).then(()=>setTimeout(()=>done=1,300));
</script>`

// TestPageOrigins: pages of another port, of another name of this machine and
// of a file can read nothing of the server that a browser of the user's has open,
// and change nothing, whatever way they take.
func TestPageOrigins(t *testing.T) {
	w := newPage(t)
	own := w.browser.Tab(t, browsertest.Look{Early: watched}, 5*pagePatience)
	defer own.Close()
	own.Open("http://" + w.addr + "/stores#token=" + w.token) // which this browser has from now on
	own.Until("document.querySelector('.card')")
	assets := strings.Fields(own.JS("[document.querySelector('link[rel=icon]').href,document.querySelector('script[type=module]').src].map(a=>a.split('/').pop()).join(' ')"))
	w.put("loot/secret.md", "# Secret\n")
	page := func(to, name string) string {
		quoted := func(s string) string { raw, _ := json.Marshal(s); return string(raw) }
		return strings.NewReplacer("ADDR", quoted(to), "NAME", quoted(name), "FOLDER", quoted(filepath.Join(w.root, "loot")), "ICON", assets[0], "MAIN", assets[1]).Replace(stranger)
	}
	other := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		to := "http://" + w.addr
		switch r.URL.Path {
		case "/":
		case "/control":
			to = "http://" + r.Host // which guards nothing
		default:
			fmt.Fprint(rw, "open")
			return
		}
		fmt.Fprint(rw, page(to, "evil"))
	}))
	defer other.Close()
	file := filepath.Join(w.root, "stranger.html")
	if err := os.WriteFile(file, []byte(page("http://"+w.addr, "evil")), 0o644); err != nil {
		t.Fatal(err)
	}
	stores := func() string {
		var list app.StoreList
		w.decode(&list, w.project, "stores", "--all")
		var names []string
		for _, s := range list.Stores {
			names = append(names, s.Name)
		}
		return strings.Join(names, " ")
	}
	before := stores()
	port, err := url.Parse(other.URL)
	if err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]string{"another port": other.URL, "another name of this machine": "http://localhost:" + port.Port(), "a file": "file://" + file} {
		b := w.browser.Tab(t, browsertest.Look{}, 3*pagePatience)
		b.Open(at)
		b.Until("window.done")
		if got := b.JS("got.join('\\n')"); got != "" {
			t.Errorf("%s: could read or load\n%s", name, got)
		}
		b.Close()
		if after := stores(); after != before {
			t.Errorf("%s: the stores were %s and are %s", name, before, after)
		}
	}
	b := w.browser.Tab(t, browsertest.Look{}, 3*pagePatience)
	defer b.Close()
	b.Open(other.URL + "/control")
	b.Until("window.done")
	got := b.JS("got.join('; ')")
	for _, way := range []string{"fetch cors 200 open", "delete 200 open", "mcp 200 open", "frame open", "framed / ", "opened open"} {
		if !strings.Contains(got, way) {
			t.Errorf("of a server without a guard it does not get %q: %.2000s", way, got)
		}
	}
	if got := own.JS("document.querySelectorAll('.card').length+document.querySelectorAll('.gate').length"); got != "1" {
		t.Errorf("the page itself shows %s cards and gates", got)
	}
	w.quiet(own)
}
