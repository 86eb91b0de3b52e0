Feature: Nine valves, not ten
  Rule: CMD-FRIO never trips the chiller

    Example: A tenth tank gets warm
      Given nine open valves
      And tank 31 is 2 degrees above its limit
      And tank 4 is half a degree above its limit and open
      When CMD-FRIO is asked for tank 31
      Then tank 4 waits and tank 31 is cooled

    Example: By hand
      Given somebody closed tank 9 by hand an hour ago
      When tank 9 reaches 29 degrees
      Then it stays closed and the telephone rings
