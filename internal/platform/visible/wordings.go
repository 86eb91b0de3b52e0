package visible

// who are the names by which text calls the program that reads it.
const who = `(?:ai|a\.i\.|llms?|chatbots?|language models?|ai[- ](?:assistants?|agents?|models?|bots?|tools?|systems?|reviewers?|readers?)|
	(?:coding|autonomous|automated|co-authoring|helpful|kind|dear) (?:agents?|assistants?|reviewers?|ai)|assistants?|agents?|chatgpt|gemini|copilot|gpt(?:-\d\w*)?|claude|cursor|
	ki|ia|assistent|asistente|modelo de lenguaje|sprachmodell|modèle de langage)`

// reads is what such a program is doing when the text speaks to it.
const reads = `(?:read(?:s|ing)?|summari[sz](?:e|es|ing)|describ(?:e|es|ing)|review(?:s|ing)?|quot(?:e|es|ing)|cit(?:e|es|ing)|process(?:es|ing)?|index(?:es|ing)?|
	analy[sz](?:e|es|ing)|translat(?:e|es|ing)|refactor(?:s|ing)?|work(?:s|ing) on|generat(?:e|es|ing)|complet(?:e|es|ing)|see(?:s|ing)?|pars(?:e|es|ing)|help(?:s|ing)?|us(?:e|es|ing))`

// hiding is the sign that holds for hidden characters, besides its wording.
const hiding = 0

// slowest is the sign whose wording takes longest to look for.
const slowest = 10

// wordings are the signs. Each is an expression of RE2 over text in small
// letters without line ends and tabs, and holds only together with one of the
// parts of words in near.
var wordings = []struct{ name, near, re string }{
	{"hidden", `display|visib|font-s|aria-h|sr-only|noscr|opaci|color| hidden>`,
		`display:\s*none|visibility:\s*hidden|font-size:\s*0|aria-hidden="true"|sr-only|<noscript>|opacity:\s*0[;"]|color:\s*(?:#fff\b|#ffffff|white)|<[a-z]+ hidden`},
	{"aside in markup", `<!--|alt="|![|title="| "|caption|details`, `<!--|\balt="|!\[|title="|\]\([^)]* "|<caption|<details>`},

	{"override", `ignor|disreg|forget|overrid|overlo|bypass|discard|negl|abando|skip|dismiss|drop|delet|erase|void|cancel|follow|attention|set aside|circumv`,
		`\b(?:ignor(?:e|es|ing)|disregard(?:s|ing)?|forget|overrid(?:e|es|ing)|overlook|bypass|circumvent|discard|neglect|abandon|skip|dismiss|drop|delete|erase|void|cancel|do not follow|don't follow|stop following|pay no attention to|set aside)\b
		[^.!?]{0,40}?\b(?:(?:previous|prior|above|earlier|preceding|past|former|initial|original|existing|current|your|these|those|safety|ethical|moral|system|developer(?:'s)?|user(?:'s)?|content|openai|anthropic|all|any|of the)[ -]+(?:of )?){1,4}
		(?:[a-z-]+ ){0,2}?(?:instructions?|prompts?|rules?|guidelines?|polic(?:y|ies)|directives?|commands?|guidance|messages?|training|context|constraints?|restrictions?|programming|filters?|orders?|protocols?|safeguards?|guardrails?|safety checks)\b`},
	{"override all of it", `ignor|disreg|forget|overlo|discard|bypass|overrid`,
		`\b(?:ignor(?:e|ing)|disregard|forget|overlook|discard|bypass|override)\b[^.!?]{0,12}\b(?:everything|anything|all|what(?:ever)?)\b[^.!?]{0,25}\b(?:told|instructed|said|learned|before|above|until now|know)\b|
		\b(?:ignore|forget) (?:the |all )(?:user\b|user queries|developer|operator|article|ticket|resume|webpage|function|template|actual data|paper|table)|\bignore what the user`},
	{"your rules", `your |safety|ethical|content|operator`,
		`\byour (?:own |safety |ethical |moral |content |system |initial |original |previous |prior |current |internal |hidden |secret |developer |operating |usage |full |complete |entire |earlier )*(?:instructions?|prompts?|rules|guidelines?|restrictions?|limitations?|polic(?:y|ies)|programming|training|safeguards?|guardrails|sandbox|filters?|directives|constraints|context window|system context|behaviou?r|checks|internal state)\b|
		\bprompt of your operator|\b(?:safety|ethical|content|moral) (?:rules|guidelines|filters?|polic(?:y|ies)|protocols?|measures|restrictions|constraints|moderation|filtering)`},
	{"rules are void", `void|supersed|cancel|overrid|lifted|suspend|removed|disabled|replaced|revoked|apply|invalid|no longer|new |only guid|freed`,
		`\b(?:previous|prior|earlier|above|your|old|all) (?:\w+ ){0,2}(?:instructions?|rules|guidelines?|prompts?|restrictions?|constraints|directives) (?:above )?(?:are|is|have been|has been|were|no longer)\b[^.]{0,20}(?:void|superseded|cancel|overrid|lifted|suspended|removed|disabled|replaced|revoked|apply|invalid|deleted|null)|
		\brules above no longer|no longer (?:apply to you|bound|restricted|limited|subject)|\bnew (?:instructions?|rules?|system prompt|directives?|orders?) ?(?::|are|is|follow)|\byour new (?:task|instructions?|role|rules|goal|objective|purpose|persona|name)\b|only guidelines|\bfreed from|ethics do not apply`},

	{"you are now", `you|mode|that role|from now|here on`,
		`\byou(?:'re| are| will be| shall be) (?:now|hereby|henceforth|no longer|actually|going to (?:act|be|pretend)) (?:an?|the|in|\w+gpt|dan|allowed|authori[sz]ed|bound|free|evil|\w*bot)\b|\bfrom (?:now|here|this (?:point|moment)) (?:on|onwards?|forward),? (?:you|act|pretend|respond|answer|ignore|every (?:file|answer|response))|\bfrom this point you|\b(?:enter|enable|activate|switch (?:in)?to|engage|you are in) (?:\w+ ){0,3}mode\b|\bin (?:maintenance|developer|debug|god|dan|jailbreak|admin|this) mode,? you|\bin that role|\bmode activated|\byou (?:will|must) now (?:only |always )?\w+`},
	{"free of limits", `restrict|limit|filter|guideline|polic|ethic|censor|moral|safeg|jailb|anything now|refuses|comply|bound by|evil|malicious|hacked|clearance|no rules`,
		`\b(?:without|no|free (?:of|from)|freed from|any|beyond|remove|lift|has no|have no)\s+(?:any |all |the |your )?(?:\w+ )?(?:restrictions?|limits|limitations?|filters?|filtering|guidelines|content (?:policy|policies|filtering|moderation)|ethic\w*|censorship|moral\w*|safeguards|rules)\b|\bunrestricted\b|\buncensored\b|\bunfiltered\b|\bjailb(?:reak|roken)\w* mode|\bdo anything now\b|\bnever refuses|\bcomply with (?:everything|all|any)|\bnot bound by|\bevil (?:ai|assistant|persona)\b|\bmalicious assistant|\bhacked ai`},
	{"turn off the guards", `disabl|turn off|circumv|bypass|deactiv|suspend|evade|disregard|ignor|without checking`,
		`\b(?:disable|turn off|circumvent|bypass|deactivate|suspend|evade|disregard|ignor(?:e|ing)|without checking)\b[^.!?]{0,20}\b(?:safety|guardrails?|filters?|usage polic|content polic|moderation|restrictions|moral|ethic\w*|safeguards|sandbox|restraints)`},
	{"play a part", `pretend|imagin|act as|role|simul|behave|act like|let's|hypoth|you are|suppos|persona`,
		`\b(?:pretend|imagine|act as|acting as|roleplay|role-play|simulate|behave as|act like|let's (?:play|imagine|pretend)|hypothetical|suppose|you are)\b[^.]{0,25}\b(?:an? |the )?(?:\w+ ){0,3}(?:ai|assistant|language model|chatbot|release manager|content policy|hacker|unrestricted|uncensored|without restrictions|evil|malicious)\b|\bimagine (?:that )?you have no|\bpretend to be the`},

	{"called", `ai|llm|chatbot|language model|agent|assistant|copilot|claude|gpt|gemini|cursor|assistent`,
		`(?:^|[\n"'>;,#*/(\[{.!-]\s*|^\s*\W*)(?:(?:hey|hi|hello|hello there|dear|attention|please|kind|note|warning|important|psst|lieber?|estimad[oa]|cher)[ ,:]*)?(?:the |all |any |every |@)?(?:\w+ )?WHO(?:-bot)?(?: ?[:,!]| ignore | must | should | have to | shall | need to | are required | has to | is to | reading | summari[sz]ing | working )`},
	{"called by a note", `note|message|attention|instruct|hint|remind|addressed|directive|memo|notice|hinweis|nota|mensaje|remarque|to the |only`,
		`\b(?:notes?|message|attention|instructions?|hint|reminder|addressed|directive|memo|notice|hinweis|nota|mensaje|remarque)\b[ ,:!]{1,2}(?:to|for|an|für|para|à|al|a)\b (?:the |all |any |every |die |den |das |la |el |l')?(?:\w+ )?WHO\b|\bto the (?:ai|model|llm|assistant|agent)\b(?: that|[:,])|\blanguage models only`},
	{"if you are one", `if |when|as |you|si eres|should`,
		`\b(?:if|when|as|since|because|whenever) (?:you(?:'re| are) |you, )(?:an? |the |any )?(?:\w+ )?WHO\b|\bas the assistant,? you|\byou(?:'re| are),? an? (?:ai|llm|language model|automated agent|chatbot)\b|\byou, (?:the )?(?:assistant|ai|model|agent)|\bgenuine assistant|\bif an? (?:ai|llm)\b|\bwhen an assistant|\bthis is an ai\b`},
	{"met while reading", `read|summar|descri|review|quot|cit|work|translat|complet|generat|refactor`,
		`\b(?:any |every |each |all |the )?WHO (?:that |who |which )?(?:is |are )?READS\b|\bwhen(?:ever)? (?:you )?(?:summari[sz]|describ|cit|quot|review|complet|generat|refactor)\w*\b[^.]{0,40}\b(?:this|a|repository|page|function|notes|query)\b[^.]{0,40},|\bwhen you (?:cite|quote|summari[sz]e|describe|translate|read this)|\bwhen summari[sz]ing,? |\bif you (?:read|see) this`},

	{"give up the prompt", `prompt|instruc|guidel|message|config|context|rules|direct|inform|above|told|key with|internal state`,
		`\b(?:reveal|print|show|output|repeat|display|leak|write out|dump|tell|give|disclose|share|expose|recite|translate|summari[sz]e|list|quote|return|provide|what (?:is|are|were)|copy|echo|spell|encode|access|see)\b[^.!?]{0,40}\b(?:(?:system|hidden|initial|original|secret|internal|your|full|complete|entire|developer|previous|prior|above|confidential|exact) ?(?:\w+ )?(?:prompts?|instructions?|guidelines|messages?|context(?: window)?|rules|directives|information|system message|state|data)|everything (?:above|before|written above|you were)|text above|key with which you|prompt that started|contents of your)\b|\bwhich rules are you`},
	{"keep it from people", `mention|tell|inform|notif|alert|reveal|show|ask|say|let|warn|know|see|refer|disclos|attention|conceal|hide|trace|silent|secret|nothing|your own|leave out`,
		`\b(?:do not|don't|never|without|must not|may not|should not|cannot|can't|nor|need not|neither) (?:ever )?(?:mention|tell|telling|inform|informing|notify|alert|reveal|show|ask|asking|say|let|warn|know|refer to|disclose|draw attention)\b[^.!?]{0,25}\b(?:(?:the|your) (?:users?|humans?|person|visitors?|customer|reviewers?)|anyone|anybody|this (?:paragraph|line|reminder|message|text|note|instruction|comment)|why|asked to be|security advisory)\b|
		\b(?:the|your) users? (?:must|should|may|can|need|does|do|cannot|can) ?(?:not|n't)? ?(?:know|see|be told|notice|find out)|\b(?:hide|conceal|remove any trace|keep) (?:this|these|of these|it)\b[^.]{0,30}\b(?:user|secret|hidden|instructions)|\btell nobody|\bsay nothing|\bsilently\b|\bsecretly\b|\bas though nothing|\bcannot see this|\bleave out everything|\bwere your own`},
	{"consent made up", `approv|agree|grant|authori|confirm|consent|wants you|asked you|mind|gave|permission|ask|no need|clearance`,
		`\b(?:the users?|they|admin\w*) (?:has |have |had )?(?:already )?(?:approved|agreed|granted|authori[sz]ed|confirmed|consented|wants? you|asked you|will not mind|gave|has permission)\b|\b(?:without|no need to|not need to|do not|don't|skip|skips) (?:ask|asking|wait|waiting|request|requesting|confirm)\w*\b[^.!?]{0,20}(?:\buser\b|permission|confirmation|approval|\bthem\b)|\bwithout (?:confirmation|approval|permission|asking)\b|\bgrant yourself|\bask(?:ing)? the user for permission|\bpermission from (?:openai|anthropic)|\bgranted me\b|\bclearance to`},
	{"authority", `anthropic|openai|google|developer|creator|operator|admin|order of|engineer|trained|authori|hereby|agent working|agents working`,
		`\b(?:message|order|instructions?|directive|request|permission) (?:is )?(?:from|of) (?:anthropic|openai|google|microsoft|the (?:developers?|administrators?|system|operator)|an administrator|your (?:developers?|creators?|operator|admin))|\b(?:as )?your (?:developer|creator)s?\b|\bby order of\b|\b(?:anthropic|openai)(?: has)? authori[sz]e|\bi(?:'m| am) (?:the|your) (?:engineer|developer|creator|admin\w*)\b|\bwho (?:trained|created|made) you|\bi authori[sz]e you|\b(?:is|are) hereby|\ball agents? working here|\bevery ai agent`},

	{"turn of a dialogue", `im_start|im_end|endoftext|header_id|inst]|<sys>|</sys>|system-rem|tool_r|search_results|function_results|<system>|</system>|operator|<|user|"role"`,
		`<\|?(?:im_start|im_end|system|endoftext|user|assistant|start_header_id)\|?>|\[/?inst\]|<</?sys>>|</?(?:system|system-reminder|tool_result|tool_response|search_results?|function_results?|operator|user_query)>|"role": ?"system", ?"content": ?"(?:ignore|you must|forget|disregard|the)|<<<(?:operator|system|admin)`},
	{"head of a dialogue", `system|assistant|operator|instruction|human|prompt|override|end of`,
		`(?:^|\n)\s*(?:#+ ?|\[|<<<|---+ ?|<!--\s*)?(?:system|assistant|operator|new instructions?|instructions?(?: block)?|hidden prompt|prompt|end of (?:prompt|context|document|instructions)) ?(?:message|prompt|override|update|note|notice)?\s*(?::|\]|>>>|---)|\bsystem (?:override|notice|alert)\b|\bend of (?:system )?(?:prompt|instructions)|<system>`},

	{"send away", `send|post|forward|upload|submit|transmit|exfil|leak|mail|append|include|paste|insert|put|link|encode|base64|replaced by|print them`,
		`\b(?:send|post|forward|upload|submit|transmit|exfiltrate|leak|email|e-mail|append|include|paste|insert|put|link to|encode|base64|replaced by|print)\b[^!?]{0,60}\b(?:conversations?|chat history|messages of the user|api[- ]?keys?|tokens?|passwords?|secrets|private keys?|credentials|environment|os\.environ|user'?s (?:\w+ )?(?:question|notes|name|data|files|query|e-?mails?|address)|user data|host name|system prompt|result|output|arguments|data)\b[^!?]{0,60}(?:\bto\b|https?://|\bin (?:a|the|your|their)\b|@|\?\w+=)`},
	{"ask for secrets", `password|token|key|digits|card|credential|expired|secret|npmrc|id_rsa|.env|passwd|.ssh`,
		`\b(?:ask|tell|have|get|make|request) the (?:user|visitor|customer|reader|human)s?\b[^.!?]{0,60}\b(?:password|token|key|digits|card|credentials|session|paste|expired)|\bquote them in|\b(?:look for|find|read|print|open)\b[^.!?]{0,40}(?:credentials|\.npmrc|id_rsa|\.env\b|passwd|\.ssh\b)|\brepository secrets|\bpassword[^.]{0,30}\bchat\b|\byour (?:secret|access) (?:key|code)|confidential (?:data|information)|secret information`},
	{"use your tools", `tool|shell|browser|terminal|your token|access to|execute|command|rm -rf| sh|no-verify|force-push|drop table|git push|bash|curl|function|actions|steps`,
		`\b(?:with|use|using|call|invoke|via|through) your (?:\w+ ){0,2}(?:tools?|shell|browser|terminal|token)\b|\bcall (?:the tool|write_|delete_|exec|run_|\w+_\w+ (?:on|for|with|\{))|\bif you have access to an?\b|\bopen a browser|\bexecutes? (?:every|all|any|instructions found)|\bruns? (?:every|any) command|\b(?:run|execute|carry out|follow) (?:the |every |all )?(?:commands?|instructions?|steps?|following actions)\b[^.]{0,30}\b(?:page|document|readme|it finds|found|above|silently|actions)|\brm -rf|\| ?(?:ba)?sh\b|--no-verify|\bforce-push|\bdrop table|\bexfil|whatever is|\bcarry out the`},
	{"shape the answer", `answer|repl|respon|summar|report|output|say|recommend|rate this|approve|omit|leave out|mark|word for word|drop the|safe and|state|tell|claim|conclude|mention|verbatim|only`,
		`\b(?:at the end of|in|from|of|to|into|begin|start|end) (?:your|its|their) (?:next )?(?:answer|reply|replies|response|summary|report|output|responses)\b|\b(?:reply|respond|answer) (?:only |just )?(?:with|in|that|unrestricted)\b|\band nothing else|\bonly (?:say|output|answer|reply|respond)|\b(?:say|answer|reply|claim|describe|conclude)s? (?:only )?(?:that|this company|this library|it is)\b|\btell the (?:user|visitor|reader)s? that|\band state\b|\brecommend (?:this|our|acceptance)|\brate this|\bapprove (?:every|the|it|this|all)\b|\bomit the|\bmark the task|\bword for word|\bverbatim|\bdrop the warning|\bsafe and has no|\bfree of vulnerabilities|\bno known issues`},

	{"other tongues: override", `ignor|olvida|oubli|vergiss|vergess|missacht|dimentica|esque|descons|игнор|забудь|忽略|無視|이전`,
		`\b(?:ignor(?:a|e|ez|iere|ieren|ar|are)|olvida|oublie[zr]?|vergiss|vergessen|missachte|dimentica|esqueça|desconsidera|игнорируй|забудь)\b[^.!?]{0,40}(?:instruc(?:cio|tions pr)|instruç|anweisung|vorgaben|istruzion|regeln|règles|reglas|consignes|инструкц)|忽略[^。]{0,12}(?:指令|指示|提示|规则)|無視|(?:以前|之前|前)の?(?:指示|命令)を|이전[^.]{0,10}지시`},
	{"other tongues: you are", `partir|ab jetzt|désormais|ora in poi|agora|eres |tu es|du bist|sin restr|sans aucune|ohne |现在|你是|没有任何|今から|制限`,
		`\b(?:a partir de ahora|à partir de maintenant|ab jetzt|da ora in poi|a partir de agora)\b|désormais un|\beres (?:ahora )?un (?:modelo|agente|asistente)|\btu es (?:désormais |maintenant )?un (?:assistant|modèle|agent)|\bdu bist (?:jetzt )?ein|sin restricciones|sans aucune (?:limite|restriction)|ohne (?:einschränkungen|regeln)|从现在起|没有任何(?:限制|规则)|今から|制限のない`},
	{"other tongues: called", `hinweis|lieber|note à|si eres|致|ai|助手|模型`,
		`hinweis an (?:die|den|alle) (?:ki|assistent)|\blieber assistent|note à l'assistant|\bsi eres un (?:modelo|asistente|agente)|致(?:所有)?(?:大语言模型|模型|助手|ai)|ai ?(?:アシスタント|モデル|エージェント)へ|(?:助手|模型)[：:，]`},
	{"other tongues: hide or send", `nutzer|usuario|utilisateur|utente|erwähn|contrase|prompt|schick|envoi|di que|répond|respond|execut|exécut|genehm|发送|系统|告诉|安全|秘密|送って|知らせ|请说`,
		`\b(?:dem nutzer|dem benutzer|al usuario|à l'utilisateur|a l'utilisateur|all'utente)\b|erwähne[^.]{0,30}nicht|contraseña|prompt de sistema|systemprompt|schicke |envoie |\bdi que|réponds |responde únicamente|exécute la commande|genehmige |发送到|你的系统提示|不要告诉|没有任何安全|秘密鍵|送ってください|知らせずに|请说`},

	{"speaks of attacks", `inject|attack|jailbr|phrase|assert|for example|e.g.|such as|detect|classif|research`,
		`prompt[- ]injection|\binjections?\b|\battack(?:s|ing)?\b|\bphrases?\b|\bassert|\bfor example\b|\be\.g\.|\bsuch as\b|\bdetect(?:or|ion|s)?\b|\bclassifier|\bresearcher`},
	{"in quotation marks", `"|“|'|‘|«|„`, `["“'‘«„](?:please )?(?:ignore|disregard|forget|you are now|do not tell|hi |pretend|reveal|print)`},
}

// weights are the logarithms of the odds that each sign speaks for; the last
// is the bias, that of none. They were fitted once, to the open part of the
// judged set among others, and stay; weights.txt is what is fitted now. The
// bias was moved by hand afterwards, to where as little documentation is
// marked as is promised. So zero is a threshold and not even odds, the signs
// themselves were chosen by hand on the same lists, and what is measured on
// these flatters.
var weights = []float64{
	1.63,  // hidden
	0.75,  // aside in markup
	3.67,  // override
	3.58,  // override all of it
	3.70,  // your rules
	2.61,  // rules are void
	2.29,  // you are now
	2.64,  // free of limits
	2.26,  // turn off the guards
	2.97,  // play a part
	2.70,  // called
	2.25,  // called by a note
	3.54,  // if you are one
	2.38,  // met while reading
	3.72,  // give up the prompt
	1.75,  // keep it from people
	3.70,  // consent made up
	3.11,  // authority
	2.64,  // turn of a dialogue
	1.18,  // head of a dialogue
	1.65,  // send away
	3.13,  // ask for secrets
	2.27,  // use your tools
	2.56,  // shape the answer
	4.34,  // other tongues: override
	1.80,  // other tongues: you are
	1.59,  // other tongues: called
	3.90,  // other tongues: hide or send, which alone is said of any program
	-3.11, // speaks of attacks
	-1.17, // in quotation marks
	-4.10, // none
}
