@NEED-REF-1
Feature: Rides come back by themselves

  Scenario: Stuck under the bridge
    Given tram 14 stands between "Harbour" and "Fish Market" for 26 minutes
    And 61 people tapped into it
    When the day is closed
    Then 61 accounts are credited with one ride
    And nobody had to call

  Scenario: Short stop
    Given tram 14 stands for 19 minutes
    Then nothing is credited
