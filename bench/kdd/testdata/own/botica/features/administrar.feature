# language: es
@BR-DISP-001 @CU-002
Característica: Administrar a pie de cama
  Para que la dosis llegue a quien le toca
  Como enfermera
  Quiero leer la pulsera antes de dar nada

  Escenario: La pulsera casa con la bolsa
    Dada una bolsa para la cama 12 a las 8:00
    Cuando leo la pulsera de la cama 12 a las 8:20
    Entonces la toma queda apuntada a mi nombre

  Escenario: Demasiado pronto
    Dada una bolsa para las 8:00
    Cuando leo la pulsera a las 6:40
    Entonces no me deja y me dice que faltan veinte minutos para poder

  Escenario: La persona se niega
    Cuando marco que no la quiere
    Entonces la bolsa vuelve al carro como rechazada y se avisa a quien la mandó
