import type { DataSource } from 'typeorm';
import {
  COLUMNS,
  COMMENTS,
  CONSTRAINTS,
  FUNCTION_GRANTS,
  FUNCTIONS,
  GRANTS,
  INDEXES,
  OTHERS,
  RELATIONS,
  RULES,
  SEQUENCES,
  TRIGGERS,
  VIEWS,
} from './schema-queries.js';

/** Written by `npm run schema`, compared by a test. */
const HEADER = `-- The schema of the database as its catalogs tell it, to be read and compared: npm run schema writes this file.
-- It is made from schema/*.sql, where the text of the functions is.`;

/** What is told of one object, in order. */
type Facts = ReadonlyMap<string, readonly string[]>;

/**
 * The whole schema of a database as the catalogs tell it, sorted by name, the same text on PostgreSQL 15 to 18. It is written as
 * SQL to be read, not to be run: of the body of a function it has a digest.
 */
export async function dumpSchema(dataSource: DataSource): Promise<string> {
  const facts = (...queries: readonly string[]) => factsOf(dataSource, queries);
  const relations = await facts(RELATIONS);
  const columns = await facts(COLUMNS, CONSTRAINTS);
  const definitions = await facts(VIEWS, SEQUENCES);
  const more = await facts(INDEXES, TRIGGERS, RULES, GRANTS, COMMENTS);
  const functions = await facts(FUNCTIONS, FUNCTION_GRANTS);
  const others = await facts(OTHERS);
  const statements = [...relations].map(([name, [head = '', options = '']]) => {
    const inside = `(\n  ${(columns.get(name) ?? []).join(',\n  ')}\n)`;
    const parts = [inside, options, ...(definitions.get(name) ?? [])];
    const body = parts.filter((part) => part !== '' && part !== '(\n  \n)');
    return [`${head} ${body.join(' ')};`, ...(more.get(name) ?? []).map((line) => `${line};`)];
  });
  const blocks = [...statements, ...listsOf(functions), ...listsOf(others)];
  return `${[HEADER, ...blocks.map((lines) => lines.join('\n'))].join('\n\n')}\n`;
}

const listsOf = (facts: Facts): string[][] =>
  [...facts.values()].map((lines) => lines.map((line) => `${line};`));

async function factsOf(dataSource: DataSource, queries: readonly string[]): Promise<Facts> {
  const facts = new Map<string, string[]>();
  for (const query of queries) {
    const rows = await dataSource.query<{ of: string; line: string }[]>(
      `SELECT of, line FROM (${query}) q ORDER BY of COLLATE "C", nr, line COLLATE "C"`,
    );
    for (const { of, line } of rows) facts.set(of, [...(facts.get(of) ?? []), line]);
  }
  return facts;
}
