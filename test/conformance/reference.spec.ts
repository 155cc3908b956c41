import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { decisionGaps } from './decisions.js';
import { filesOf, readText, requirements } from './sources.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ROWS = /\b([A-Z]+)-(\d{2,})(?: to (\d{2,}))?/g;
const COMMENT = /\/\*[^]*?\*\/|^\s*\/\/.*$/gm;
/** `(API: a heading; …`, also where the line breaks inside. */
const POINTER = /\(API: ([^;,)]+)/g;

interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, ApiSchema>> };
}
interface ApiOperation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: ApiSchema }>> };
}
interface ApiSchema {
  readonly $ref?: string;
  readonly oneOf?: readonly ApiSchema[];
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** Parameters of the query and fields of the body. The fields of songs, a table for each model, are in docs/guides/songs.md. */
function namesOf({ components }: ApiDocument, operation: ApiOperation): readonly string[] {
  const resolved = (schema: ApiSchema): ApiSchema =>
    components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema;
  const bodies = Object.values(operation.requestBody?.content ?? {})
    .map(({ schema }) => resolved(schema))
    .flatMap((schema) => schema.oneOf?.map(resolved) ?? [schema]);
  const fields =
    bodies.length > 2 ? [] : bodies.flatMap(({ properties = {} }) => Object.keys(properties));
  const asked = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
  return [...new Set([...asked.map(({ name }) => name), ...fields])];
}

const pages = async (): Promise<readonly string[]> => {
  const texts: string[] = [];
  for await (const [, text] of filesOf(['docs/reference/api/'], /\.md$/)) texts.push(text);
  return texts;
};
const headings = async (): Promise<readonly string[]> =>
  (await pages()).flatMap((text) => text.match(/(?<=^## ).*$/gm) ?? []);

/** What the comments of the code point at, by the given pattern, without those that exist. */
async function lost(pattern: RegExp, exists: (target: string) => boolean): Promise<string[]> {
  const found: string[] = [];
  for await (const [path, text] of filesOf(['src/', 'test/', 'bench/', 'scripts/'], /\.[jt]s$/)) {
    if (path === 'test/conformance/reference.spec.ts') continue;
    for (const [comment] of text.matchAll(COMMENT)) {
      for (const [, target = ''] of comment.replace(/\s*\n\s*\*\s*/g, ' ').matchAll(pattern)) {
        if (!exists(target)) found.push(`${path}: ${target}`);
      }
    }
  }
  return found;
}

describe('docs/reference/decisions.md', () => {
  it('has every decision that is named, each with a test or the reason why there is none', async () => {
    expect(await decisionGaps()).toMatchObject({ unproven: [], unknown: [] });
  });
});

describe('docs/reference/api', () => {
  it('names every row of requirements.tsv, and no other', async () => {
    const ids = (await requirements()).map(({ id }) => id);
    const areas = new Set(ids.map((id) => id.split('-')[0]));
    const told = new Set<string>();
    for (const text of await pages()) {
      for (const [, area = '', first = '', last = first] of text.matchAll(ROWS)) {
        if (!areas.has(area)) continue;
        for (let row = Number(first); row <= Number(last); row += 1) {
          told.add(`${area}-${String(row).padStart(2, '0')}`);
        }
      }
    }
    expect([...told].sort()).toEqual([...ids].sort());
  });

  it('documents every endpoint of openapi.json with its fields and parameters', async () => {
    const document = JSON.parse(await readText('openapi.json')) as ApiDocument;
    const texts = await pages();
    const missing: string[] = [];
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        // What follows `#` is the same endpoint for generated clients.
        if (!path.startsWith('/v1/') || path.includes('#')) continue;
        const endpoint = `${method.toUpperCase()} ${path}`;
        const page = texts.find((text) => text.includes(`\n## ${endpoint}\n`)) ?? pageOf(endpoint);
        const names = namesOf(document, operation).filter((name) => !page.includes(`\`${name}\``));
        if (page === '') missing.push(endpoint);
        missing.push(...names.map((name) => `${endpoint}: ${name}`));
      }
    }
    expect(missing).toEqual([]);

    function pageOf(endpoint: string): string {
      return texts.find((text) => text.includes(`\`${endpoint}\``)) ?? '';
    }
  });

  it('has no heading twice', async () => {
    const all = await headings();
    expect(all.filter((heading, index) => all.indexOf(heading) !== index)).toEqual([]);
  });
});

describe('a comment', () => {
  it('points at headings of docs/reference/api that exist', async () => {
    const all = new Set(await headings());
    expect(await lost(POINTER, (heading) => all.has(heading))).toEqual([]);
  });

  it('names documents that exist', async () => {
    const exists = (path: string) => existsSync(`${ROOT}${path}`);
    expect(await lost(/(?<![\w/])(docs\/[\w/.-]+\.md)/g, exists)).toEqual([]);
    const adrs = (await readdir(`${ROOT}docs/architecture/adr`)).map((file) => file.slice(0, 4));
    expect(await lost(/\bADR (\d+)/g, (id) => adrs.includes(id.padStart(4, '0')))).toEqual([]);
  });

  it('points at no document outside the repository', async () => {
    expect(await lost(/(\((?:spec|architecture|interface|reliability): )/g, () => false)).toEqual(
      [],
    );
  });
});

describe('a document', () => {
  it('names files that exist', async () => {
    const missing: string[] = [];
    for await (const [path, text] of filesOf(['docs/'], /\.md$/)) {
      for (const [, file = ''] of text.matchAll(/`((?:src|test|bench|scripts|docs)\/[\w./-]+)`/g)) {
        if (!existsSync(`${ROOT}${file}`)) missing.push(`${path}: ${file}`);
      }
    }
    expect(missing).toEqual([]);
  });
});
