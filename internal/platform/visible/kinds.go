package visible

import (
	"strings"
	"sync"
)

// kinds are words by the kind of thing that they name, whose names are in
// capitals: what an order to an assistant is made of, in any language.
var kinds = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for l := range strings.Lines(kindsOfWords) {
		f := strings.Fields(l)
		for i := 1; i < len(f); i++ {
			out[f[i]] = f[0]
			if s := stem(f[i]); out[s] == "" {
				out[s] = f[0]
			}
		}
	}
	return out
})

const kindsOfWords = `AI ai llm llms chatbot chatbots assistant assistants agent agents copilot claude chatgpt gpt gemini cursor codex bot bots ki ia asistente asistentes assistent assistenten assistente assistenti sprachmodell sprachmodelle agente agentes agenten agenti 助手 智能 アシ エー 人工
MODEL model models lm modelo modelos modell modelle modèle modèles modello modelli 模型 モデ デル
YOU you yourself u du dich dir vous te ti você voce lei 你是 你将 你现 您是 あな なた
YOUR your yours dein deine deinen deiner deinem ihre ihren ihrer votre vos tu tus su sus seu sua suas seus tuo tua tuoi 你的 您的
INSTR instruction instructions instructed prompt prompts rule rules guideline guidelines directive directives policy policies order orders guidance programming protocol protocols instrucciones instrucción reglas anweisung anweisungen regel regeln vorgabe vorgaben richtlinien befehl befehle consignes règles instruções regras istruzioni regole directrices diretrizes indications 指令 指示 规则 命令 提示 规定 指南 инструкции правила
LIMIT restriction restrictions constraint constraints filter filters safeguard safeguards guardrail guardrails limitation limitations limits ethics ethical moral morals censorship moderation unrestricted uncensored unfiltered restricciones limitaciones einschränkungen beschränkungen limites restrições limitações restrizioni limitazioni 限制 审查 制限
OVERRIDE ignore ignores ignoring disregard disregarding forget override overrides overriding bypass bypassing neglect discard overlook circumvent dismiss abandon supersede supersedes superseded void disobey ignora ignorar ignore ignorez ignorer ignoriere ignorieren vergiss vergessen olvida olvide olvidar oublie oubliez missachte dimentica dimenticare esqueça esquecer desconsidere desconsidera ignorare omite descarta 忽略 忘记 无视 無視 忘れ игнорируй забудь
PRIOR previous previously prior above earlier preceding former original initial existing everything anteriores anterior previas previos vorherigen vorherige bisherigen bisherige obigen précédentes précédente précédents antérieures precedenti anteriori 之前 以前 上面 先前 上述 前の
TELL tell mention inform reveal disclose notify alert warn dices digas menciones mencionar mencione erwähne erwähnen sage verrate mentionne mentionner révèle révéler dire dis informe informes informiere revela revelar revele mostrar muestra menzionare rivela rivelare diga conte 告诉 提及 提到 透露 泄露 知ら 伝え 明か
SHOW print repeat output display show write paste dump recite echo imprime repite escribe répète affiche gib wiederhole schreibe ripeti stampa repita mostre zeige 输出 显示 重复 打印 出力 表示
NOT not never don't without cannot nor nicht niemals ohne kein keine keinen nunca jamais ne pas sin no não nao non senza mai sem 不要 不得 不能 切勿 没有 ない せず
USER user users human humans person people customer visitor reader readers owner operator usuario usuarios benutzer nutzer utilisateur utilisateurs utente utenti usuário usuários anwender cliente kunde kunden client 用户 ユー ーザ 使用者
SEND send sends post forward upload submit transmit exfiltrate email mail leak deliver envía envia enviar envíe schicke schick sende senden envoie envoyer envoyez invia inviare envie 发送 发给 上传 送信 送っ
SECRET password passwords token tokens credential credentials secret secrets key keys apikey api_key passwd ssh env id_rsa npmrc private confidential contraseña contraseñas clave claves passwort passwörter geheim geheime geheimnis schlüssel zugangsdaten passe secrète senha senhas segredo segreto chiave clé clés 密码 密钥 秘密 凭证 パス
TALK conversation conversations chat history session transcript dialogue message messages conversación unterhaltung gespräch historique conversa conversazione verlauf 对话 聊天 记录 会話
MUST must should shall need required obligated mandatory please always only immediately kindly muss musst müssen bitte immer nur sofort debe debes deben doit dois devez siempre solo toujours seulement immédiatement deve devi devono sempre 必须 应该 务必 只能 立即 必ず べき
NOW now instead henceforth hereby onwards jetzt stattdessen ab ahora desde désormais maintenant ora adesso agora partir 现在 从现 今后 これ 今か
ROLE act acts acting pretend roleplay imagine simulate simulating behave persona character role mode dan jailbreak jailbroken developer-mode actúa actua finge imagina modo tue vorgeben spiele rolle modus rôle agis comporte prétends faire fingi ruolo modalità atue finja papel 扮演 角色 模式 假装 モー
ANSWER answer answers reply replies respond responds response responses summary summaries summarize summarizing summarise conclude conclusion recommend recommends recommendation rate report verdict antwort antworte antworten zusammenfassung respuesta responde responder resumen réponse réponds répondre répondez résumé risposta rispondi rispondere resposta responda riassunto resumo empfiehl recomienda 回答 回复 总结 摘要 推荐 答え 要約
SYSTEM system systems admin administrator administrators anthropic openai google microsoft root override maintainer maintainers security team sistema systems système 系统 管理 开发 システ
ABOUT injection injections attack attacks attacker attackers example examples detect detects detection phrase phrases vulnerability vulnerabilities malicious adversarial classifier research researchers defend mitigation mitigations untrusted
READ read reads reading review reviews reviewing process processes processing parse parses parsing index indexing analyze analyzing analyse analysing translate translating refactor refactoring ingest crawl crawling scan scanning lee lees leyendo liest lesen lis lit lisant legge leggi leia ler 阅读 读取 分析 处理 読む 読ん
TOOL tool tools shell terminal browser execute executes run runs invoke call function functions script curl bash wget command commands ejecuta ejecutar ausführen führe exécute exécuter esegui executa execute 执行 运行 调用 工具 実行
TRUST safe approve approved approves authorize authorized authorised permission permissions confirmation confirmed confirm consent grant granted granting privileges clearance trusted verified legitimate aprobado genehmigt genehmige sicher seguro approuvé autorizado autorisé sûr sicuro 安全 批准 授权 许可 承認
HIDE silently secretly quietly hide hides conceal hidden invisible invisibly covertly discreetly heimlich verbirg stillschweigend secreto oculta silencio silencieusement secrètement cacher nascondi nascostamente secretamente 秘密地 隐藏 悄悄 こっそ 密か
TASK task goal objective mission purpose job tarea aufgabe tâche objectif compito tarefa ziel 任务 目标 タス
FREE free freed unlimited anything unbound unlocked enabled disabled libre frei libero livre librement 自由
HTTP http https url link webhook endpoint
`
