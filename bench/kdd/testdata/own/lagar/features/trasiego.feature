# language: es
@CMD-TRASIEGO
Característica: Mover vino sin sustos

  Escenario: Mezclar ecológico con el que no lo es
    Dado un vino ecológico en el depósito 7
    Y uno que no lo es en el 12
    Cuando pido pasar 500 litros del 12 al 7
    Entonces se me pregunta dos veces
    Y el vino nuevo pierde la hoja verde

  Escenario: Cuadrar litros
    Cuando salen 5.000 y entran 4.900
    Entonces la bomba se para
