package specdoc

import "strings"

// roles are the sections whose content states something by being there,
// by their folded headings in Spanish and English.
var roles = func() map[string]string {
	m := map[string]string{}
	for role, words := range roleWords {
		for _, w := range strings.Fields(words) {
			m[w] = role
		}
	}
	return m
}()

var roleWords = map[string]string{
	"description":    "descripcion description overview resumen summary vision-general",
	"attributes":     "atributos attributes propiedades properties campos fields",
	"relations":      "relaciones relations relationships",
	"states":         "estados states maquina-de-estados state-machine",
	"lifecycle":      "ciclo-de-vida lifecycle life-cycle",
	"events":         "eventos events eventos-de-dominio domain-events eventos-del-ciclo-de-vida lifecycle-events",
	"emits":          "eventos-emitidos emitted-events events-emitted eventos-producidos produced-events emite emits",
	"consumes":       "eventos-consumidos consumed-events events-consumed consume consumes",
	"invariants":     "invariantes invariants",
	"declaration":    "declaracion declaration",
	"when":           "cuando-aplica when-applies when-it-applies applies-when",
	"why":            "por-que-existe why-it-exists why rationale justificacion",
	"violation":      "que-pasa-si-se-incumple violation what-happens-if-violated",
	"purpose":        "proposito purpose objetivo objective",
	"input":          "entrada input inputs parameters parametros",
	"output":         "salida output result resultado",
	"preconditions":  "precondiciones preconditions",
	"postconditions": "postcondiciones postconditions",
	"errors":         "errores errors possible-errors posibles-errores",
	"flow":           "flujo-principal main-flow",
	"alternatives":   "flujos-alternativos flujo-alternativo alternative-flows alternative-flow",
	"exceptions":     "excepciones exceptions",
	"rules":          "reglas-aplicadas applied-rules rules-applied reglas-de-negocio-aplicadas",
	"commands":       "comandos-ejecutados executed-commands commands-executed comandos-invocados",
	"actors":         "actores actors actor",
	"producers":      "productor productores producer producers",
	"consumers":      "consumidor consumidores consumer consumers",
	"payload":        "payload carga datos-del-evento",
	"criteria":       "criterios-de-aceptacion acceptance-criteria criterios",
	"trace":          "trazabilidad traceability",
	"dependencies":   "dependencias dependencies depends-on depende-de",
	"related":        "relacionado relacionados related see-also vease-tambien ver-tambien referencias references enlaces links",
	"status":         "status estado",
	"context":        "contexto context context-and-problem-statement contexto-y-problema",
	"decision":       "decision decisions decision-outcome",
	"consequences":   "consecuencias consequences positive-consequences negative-consequences pros-and-cons-of-the-options",
	"steps":          "pasos steps",
	"participants":   "participantes participants",
	"problem":        "problema problem problema-oportunidad problem-opportunity",
	"scope":          "alcance scope",
	"metrics":        "metricas metrics metricas-de-exito success-metrics exito",
	"success":        "criterios-de-exito success-criteria",
	"layout":         "layout disposicion maquetacion",
	"behavior":       "comportamiento behavior behaviour",
	"components":     "componentes components",
}

// Role returns what a section with a heading is for, the same for Spanish and
// English: "attributes", "relations", "rules", "flow", …; "" for any other.
func Role(heading string) string {
	a := Anchor(heading)
	for len(a) > 0 && (a[0] >= '0' && a[0] <= '9' || a[0] == '-') {
		a = a[1:] // "3. Decisión"
	}
	return roles[a]
}
