package rank

import (
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/terms"
)

// related returns for a term those of words that documentation and those who
// ask it use in its place. A table of a few hundred everyday words of software
// rather than a thesaurus: what is near in general ("run", "operate",
// "manage") is rarely meant in documentation.
var related = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for line := range strings.Lines(relatedWords) {
		var group []string
		for _, w := range strings.Fields(line) {
			group = append(group, terms.Of(w)...)
		}
		for _, a := range group {
			for _, b := range group {
				if a != b && !slices.Contains(m[a], b) {
					m[a] = append(m[a], b)
				}
			}
		}
	}
	return m
})

// relatedWords holds one group of words a line; a word may stand in several.
// English, and Spanish, which the first users write.
const relatedWords = `delete remove drop erase purge clear clean discard destroy uninstall borrar eliminar quitar
vanish disappear lost missing gone
create add make new generate build define declare register crear agregar añadir generar definir
change modify update edit alter customize override set replace cambiar modificar actualizar editar
rename move migrate
run execute start launch invoke call trigger ejecutar correr iniciar arrancar
stop disable off prevent turn halt shutdown terminate kill end parar detener desactivar
limit maximum max cap most restrict threshold límite máximo
minimum min least mínimo
option setting flag config configuration configure parameter property opción ajuste configuración parámetro
error failure fail exception problem issue crash bug fallo problema
allow enable permit activate support accept permitir habilitar activar
forbid disallow deny reject ban prohibit restrict block prevent prohibir impedir
list show display print view see output mostrar listar ver
default fallback predeterminado
required mandatory must obligatorio
optional opcional
load import read ingest fetch require cargar importar leer
save store persist write export guardar almacenar exportar
hide omit exclude ignore skip suppress silence redact mask ocultar excluir ignorar omitir
include contain add incluir
forward proxy redirect relay pass reenviar redirigir
send emit deliver publish transmit dispatch return respond reply enviar
receive accept get obtain recibir obtener
wait delay timeout pause sleep block esperar retraso
slow long performance latency lento rendimiento
fast quick speed optimize rápido
time duration interval period timestamp date tiempo duración
old historic historical past previous former legacy antiguo
newest latest recent last
check validate verify test ensure assert detect comprobar validar verificar probar
find search look query locate discover lookup buscar encontrar
select choose pick filter match elegir seleccionar filtrar
sort order rank ordenar
group aggregate combine merge join agrupar combinar unir
split divide separate partition chunk dividir separar
compute calculate evaluate derive calcular evaluar
predict forecast estimate extrapolate
fixed absolute constant static
copy duplicate clone replicate copiar duplicar
repeat again loop circular recursive cycle infinite repetir bucle
conflict overlap clash collide collision conflicto
undo revert rollback restore cancel deshacer revertir restaurar
install setup deploy publish release instalar desplegar publicar
upgrade update migrate migration actualizar migrar
connect connection link attach bind conectar conexión
disconnect close abort end drop disconnected cerrar
login sign authenticate authentication credential password autenticar contraseña
authorize authorization permission access role permiso acceso
secret token key password secreto clave
user visitor client account customer usuario cliente
server host backend machine servidor
folder directory path carpeta directorio
file document archivo fichero
function method procedure callback función método
argument parameter input argumento
variable constant field attribute column campo
table relation entity
row record entry item registro fila
array list collection sequence lista
map dictionary object hash
string text characters cadena texto
number integer numeric número
message notification alert warning notice mensaje aviso
log logging trace record registro
watch monitor observe listen observar vigilar
event hook callback listener handler trigger evento
plugin extension addon module complemento extensión
package dependency library module paquete dependencia
environment env variable entorno
command cli terminal shell comando
example sample demo tutorial ejemplo
guide manual documentation reference guía
reason cause why explanation causa
solution fix resolve resolution workaround solución arreglar
automatic automatically auto implicit automático
manual manually explicit explícito
parallel concurrent concurrently simultaneous paralelo concurrente
async asynchronous asíncrono
sync synchronous synchronize sincronizar
convert transform translate parse cast convertir transformar
encode serialize format stringify codificar serializar
decode deserialize parse decodificar
compress gzip minify bundle comprimir
cache caching memoize caché
encrypt tls ssl https certificate cifrar certificado
request call query petición solicitud
response reply answer result respuesta resultado
route path endpoint url address ruta
version release revision versión
lifetime expire expiration ttl stale staleness caducar
memory ram heap memoria
disk storage space disco almacenamiento
network internet connection red
offline local locally
remote external distant remoto
global shared common compartido
unique distinct unico
empty blank null undefined nil none vacío nulo
readonly immutable constant
nested inner child nested anidado hijo
parent outer enclosing padre
multiple several many various varios muchos
single one once uno único
each every all per cada todos
before pre prior antes
after post once después
rate throughput frequency
size length count number tamaño cantidad
retry repeat attempt reintentar
schedule cron periodic timer programar
backup snapshot dump copia
scale cluster shard distribute escalar
inherit extend derive subclass heredar
wrap decorate decorator wrapper
inject provide supply inyectar
mock stub fake simulate simular
debug inspect troubleshoot diagnose depurar
team project codebase repository proyecto repositorio
type kind class sort category tipo clase
language locale translation idioma
image picture photo imagen
color theme style tema estilo
mark tag label annotate flag etiqueta marcar
disadvantage downside limitation drawback caveat limitación
advantage benefit beneficio ventaja
difference versus compare comparison diferencia
`
