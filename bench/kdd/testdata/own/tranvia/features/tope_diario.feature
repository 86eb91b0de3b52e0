# language: es
Característica: Dejar de cobrar
  Antecedentes:
    Dado que el tope es de 4,80 €

  Esquema del escenario: Viajes sucesivos
    Dada una tarjeta que hoy ha pagado <antes>
    Cuando se acerca al validador
    Entonces se le cobra <ahora>

    Ejemplos:
      | antes | ahora |
      | 0,00  | 1,60  |
      | 3,20  | 1,60  |
      | 4,80  | 0,00  |
      | 4,00  | 0,80  |
