import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { BUILT_IN_MODELS } from '../src/catalog/models/built-in.models.js';
import type { ModelRow } from '../src/catalog/model-row.js';
import { TOKEN_LINES } from '../src/catalog/token-price.js';
import { SANDBOX_MODELS } from '../src/catalog/models/sandbox.models.js';
import { VOICES } from '../src/catalog/voices.js';
import { OPERATIONS } from '../src/catalog/operations.js';
import { LINE_UNITS } from '../src/common/money/price-lines.js';
import { ERROR_TABLE, type ErrorCode, publicCodeOf } from '../src/common/errors/error-table.js';
import type { Setting } from '../src/platform/config/setting.js';
import { SETTINGS } from '../src/platform/config/settings.js';
import { MAGIC_INPUTS } from '../src/sandbox/magic-inputs.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const row = (...cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
/** The rows a document lacks; the text of each is what has to be written there. */
const missingIn = (path: string, rows: readonly string[]): string[] => {
  const lines = new Set(read(path).split('\n'));
  return rows.filter((line) => !lines.has(line));
};
/** Rows of a document's tables whose first cell is code, to find what it has too many of. */
const documented = (path: string, heading: string): number =>
  (read(path).split(`\n## ${heading}\n`)[1]?.split('\n## ')[0]?.match(/^\| `/gm) ?? []).length;

function wordedPrice({ operation, price }: ModelRow): string {
  switch (price.unit) {
    case 'request':
      return price.maxModeMicroUsd === undefined
        ? `${price.microUsd} per request`
        : `${price.microUsd} per request, ${price.maxModeMicroUsd} in Max mode`;
    case 'code_point':
      return `${price.microUsd} per character`;
    case 'measured_second':
      return `${price.microUsd} per second of the recording`;
    case 'requested_second':
      return `${price.microUsd} per second asked for`;
    case 'token':
      if (operation === 'embeddings') return `${price.inputMicroUsdPerMillion} per million tokens`;
      return price.cachedInputMicroUsdPerMillion === undefined
        ? `${price.inputMicroUsdPerMillion} in, ${price.outputMicroUsdPerMillion} out per million tokens`
        : `${price.inputMicroUsdPerMillion} in (cached ${price.cachedInputMicroUsdPerMillion}), ${price.outputMicroUsdPerMillion} out per million tokens`;
    case 'video':
      return Object.entries(price.microUsdBySeconds)
        .map(([seconds, microUsd]) => `${microUsd} for ${seconds} s`)
        .join(', ');
  }
}

const rowOf = (model: ModelRow): string =>
  row(`\`${model.id}\``, OPERATIONS[model.operation].endpointType, wordedPrice(model));

describe('the lists of the documentation', () => {
  it('documents every setting with its default', () => {
    const rows = Object.entries<Setting>(SETTINGS).map(([name, setting]) =>
      row(`\`${name}\``, setting.shownDefault, setting.meaning),
    );
    expect(missingIn('docs/reference/configuration.md', rows)).toEqual([]);
    expect(documented('docs/reference/configuration.md', 'Settings')).toBe(rows.length);
  });

  it('documents every magic input of the sandbox', () => {
    const rows = MAGIC_INPUTS.map((input) =>
      row(`\`${input.name}${'argument' in input ? `=${input.argument}` : ''}\``, input.effect),
    );
    expect(missingIn('docs/guides/sandbox.md', rows)).toEqual([]);
    expect(documented('docs/guides/sandbox.md', 'Magic inputs')).toBe(rows.length);
  });

  it('documents every model with its price', () => {
    const rows = BUILT_IN_MODELS.map((model) => rowOf(model));
    expect(missingIn('docs/reference/models.md', rows)).toEqual([]);
    expect(documented('docs/reference/models.md', 'Models')).toBe(rows.length);
  });

  it('documents every model of the sandbox alone', () => {
    const rows = SANDBOX_MODELS.map((model) => rowOf(model));
    expect(missingIn('docs/guides/sandbox.md', rows)).toEqual([]);
    expect(documented('docs/guides/sandbox.md', 'Models of its own')).toBe(rows.length);
  });

  it('documents each name of a price beside its names in other places', () => {
    const path = 'docs/reference/models.md';
    const table = read(path).split('\n## Spellings of a price\n')[1]!.split('\n## ')[0]!;
    const lines = Object.keys(TOKEN_LINES).map((line) =>
      ['', `\`${line}_per_million\``, `\`${line}_micro_usd_per_million\``, `\`${line}\``].join(
        ' | ',
      ),
    );
    expect(lines.filter((cells) => !table.includes(cells))).toEqual([]);
    expect(LINE_UNITS.filter((unit) => !table.includes(`| \`${unit}\` |`))).toEqual([]);
  });

  it('documents every voice', () => {
    const rows = VOICES.map(({ id, name, gender, accent }) =>
      row(`\`${id}\``, name, gender, accent),
    );
    expect(missingIn('docs/reference/models.md', rows)).toEqual([]);
    expect(documented('docs/reference/models.md', 'Voices')).toBe(rows.length);
  });

  it('documents every error code', () => {
    const rows = (Object.keys(ERROR_TABLE) as ErrorCode[]).map((code) => {
      const { status, type, meaning } = ERROR_TABLE[code];
      return row(`\`${publicCodeOf(code)}\``, status, type, meaning);
    });
    expect(missingIn('docs/reference/errors.md', rows)).toEqual([]);
    expect(documented('docs/reference/errors.md', 'Codes')).toBe(rows.length);
  });
});
