    answers: (records, settings) => ask({records: given("records", records)}, settings),
    translate: (record, settings) => ask({records: [given("record", record)]}, settings)[0].text,
    nbest: (record, count, settings) =>
      ask({records: [given("record", record)], nbest: given("count", count)}, settings).map(({line, ...rest}) => rest),