    answers: (records, settings = {}) => ask({...settings, records: [records].flat()}),
    translate: (record, settings = {}) => ask({...settings, records: [record]})[0].text,
    nbest: (record, count, settings = {}) =>
      ask({...settings, nbest: count, records: [record]}).map(({line, ...rest}) => rest),