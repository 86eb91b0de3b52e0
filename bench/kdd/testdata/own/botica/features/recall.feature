Feature: Recall of a lot
  # verifies CMD-003 and REQ-CAB-06

  Background:
    Given lot "V-77" lies in cabinets "A3" and "B1"

  Scenario: Everybody answers
    When a recall of class 1 arrives for "V-77"
    Then within 60 seconds no drawer with "V-77" opens
    And a list of the eleven people who already got it is printed

  Scenario: A cabinet is silent
    Given cabinet "B1" has no network
    When a recall of class 1 arrives for "V-77"
    Then the pager on duty rings
    And the recall stays open until somebody signs that "B1" was emptied by hand
