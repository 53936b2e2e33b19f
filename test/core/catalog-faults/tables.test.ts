import { testFaults } from './right-catalog.ts'

/** Faults in the tables and fields of `catalog.yaml`. */

// Keys of a table that name its fields: orders, filters, searches, charts and totals.
testFaults([
  [
    'an order by a field that is not there',
    'date desc',
    'dates desc',
    ['c.yaml:22:17: there is no field "dates" (did you mean "date"?); known: date, city, value'],
  ],
  [
    'an order with another word',
    'date desc',
    'date down',
    ['c.yaml:22:17: "down" is not a direction: write "date asc" or "date desc"'],
  ],
  [
    'an order by a field twice',
    'date desc, city',
    'date desc, date',
    ['c.yaml:22:28: order field "date" appears twice: each must be unique'],
  ],
  [
    'a filter on a field that is not there',
    'filters: [date]',
    'filters: [dat]',
    ['c.yaml:23:19: there is no field "dat" (did you mean "date"?); known: date, city, value'],
  ],
  [
    'another order by a field that is not there',
    'search: [city]',
    'orders: [[-dat]]',
    ['c.yaml:24:19: there is no field "dat" (did you mean "date"?); known: date, city, value'],
  ],
  [
    'another order by a field without codes',
    'search: [city]',
    'orders: [[-date], [date, value]]',
    [
      'c.yaml:24:34: "value" is not in `filters`, so it has no codes to order by: add it there, or remove it from `orders`',
    ],
  ],
  [
    'another order by a field twice',
    'search: [city]',
    'orders: [[-date, date]]',
    ['c.yaml:24:26: order field "date" appears twice: each must be unique'],
  ],
  [
    'another order of nothing',
    'search: [city]',
    'orders: [[]]',
    ['c.yaml:24:18: item 1 of "orders" is [], and it must name a field'],
  ],
  [
    'rows together, which are not stored any more',
    'search: [city]',
    'clustered: [city]',
    ['c.yaml:24:9: "clustered" is not used any more, since pages are read from the row store: remove it'],
  ],
  [
    'a partition by a field that is not there',
    'search: [city]',
    'partition: dat',
    ['c.yaml:24:20: there is no field "dat" (did you mean "date"?); known: date, city, value'],
  ],
  [
    'a partition by a field that does not lead the order, of one file',
    'search: [city]',
    'partition: city',
    [
      'c.yaml:24:20: "city" must be the first field of the order, so that the rows of a partition are adjacent',
      'c.yaml:24:20: "partition" needs several source files: list them in source.files',
    ],
  ],
  [
    'a search in a field without text',
    'search: [city]',
    'search: [value]',
    ['c.yaml:24:18: "value" cannot be searched: only fields of type string or text can'],
  ],
  [
    'a measure that is no number',
    'filters:',
    'measures: [city]\n        filters:',
    ['c.yaml:23:20: "city" cannot be summed exactly: only fields of type integer or decimal can'],
  ],
  [
    'a chart of no field, no part of dates and no function',
    'filters:',
    'chart: { group: [city__week, date__weak], measure: value__total }\n        filters:',
    [
      'c.yaml:23:26: "city" has no dates, so it has no week',
      'c.yaml:23:38: there is no field "date__weak"; known: date, city, value',
      'c.yaml:23:60: "value__total" is not a measure: write rows, or a field and a function, such as date__count',
    ],
  ],
  [
    'a chart of the sum of texts',
    'filters:',
    'chart: { group: [city], measure: city__sum }\n        filters:',
    ['c.yaml:23:42: "city" has no numbers, so it has no sum'],
  ],
  [
    'a time of no field',
    'filters:',
    'time: day\n        filters:',
    ['c.yaml:23:15: there is no field "day"; known: date, city, value'],
  ],
  [
    'a time of a text',
    'filters:',
    'time: city\n        filters:',
    ['c.yaml:23:15: "city" has no times: choose dates, or integers such as 2020 or 202006'],
  ],
  [
    'a default filter of no field, of no value and of no filter',
    'filters:',
    'default_filter: { cities: x, date: soon }\n        filters:',
    [
      'c.yaml:23:35: there is no field "cities"; known: date, city, value',
      'c.yaml:23:44: "soon" is not a value of "date", whose type is date',
    ],
  ],
  [
    'totals of no text and of no field',
    'filters:',
    'totals: { value: "1", cities: x }\n        filters:',
    [
      'c.yaml:23:26: "value" cannot mark totals: only fields of type string or text can',
      'c.yaml:23:39: there is no field "cities"; known: date, city, value',
    ],
  ],
  [
    'a kind of a number',
    'scale: 3',
    'scale: 3, kind: uf',
    ['c.yaml:28:74: "kind" applies only to fields of type string or text: change the type'],
  ],
  [
    'titles of values that are decimals',
    'scale: 3',
    'scale: 3, value_titles: { "1": one }',
    ['c.yaml:28:82: "value_titles" applies only to fields of type string or text or integer: remove it'],
  ],
])
