# language: es
Característica: Tarjeta para menores de 26
  Como taquillera quiero comprobar la edad una vez y no más

  Escenario: Con documento
    Dado un documento que dice 2009
    Cuando doy de alta la tarjeta
    Entonces lleva un 40 % de descuento hasta la víspera de los 26
    Y no se guarda copia del documento

  Escenario: El día del cumpleaños
    Dada una tarjeta cuyo titular cumple hoy 26
    Cuando viaja
    Entonces paga entero y recibe un mensaje con las demás tarifas

  Escenario: Sin documento
    Entonces se entrega una tarjeta normal, con plazo de 15 días para volver
