import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { IntersectionType } from '@nestjs/swagger';
import { validateSync } from 'class-validator';
import fc from 'fast-check';
import { GatewayError } from '../errors/gateway-error.js';
import { validatorOf } from './compiled-validator.js';
import { ExcludedBy, Needs, RequiredWhen, RequiredWith } from './cross-field-rules.js';
import {
  Custom,
  type Dto,
  Bool,
  LanguageCode,
  ModelId,
  Nested,
  Num,
  Enum,
  Text,
  Int,
} from './fields.js';

class Line {
  @Text({ max: 5, controls: 'speech' }) text!: string;
  @Text({ max: 3 }) voice!: string;
}
class Common {
  @ModelId() model!: string;
  @Int({ min: 0, max: 9, optional: true }) seed?: number;
}
class Speech extends Common {
  @Text({ max: 5, missingCode: 'invalid_input', controls: 'speech' }) input!: string;
  @Num({ min: 0.7, max: 1.2, optional: true }) speed?: number;
  @Bool({ optional: true }) boost?: boolean;
  @LanguageCode({ optional: true }) language?: string;
  @Enum(['mp3', 'wav'], { default: 'mp3' }) format!: string;
}
class Lines {
  @Nested(() => Line, { list: { min: 1, max: 2 } }) inputs!: Line[];
  @Nested(() => Line, { optional: true }) extra?: Line;
  @Int({ min: 1, max: 8, list: { min: 2, max: 2 }, optional: true }) indexes?: number[];
  @Text({ max: 3, list: { min: 1, max: 2 }, optional: true }) urls?: string[];
  @Custom((value) => Array.isArray(value), 'must be an array', { optional: true }) tools?: unknown;
}
class Version {
  @ExcludedBy('custom_id') @Enum(['v6'], { optional: true }) version?: string;
  @Text({ max: 5, optional: true }) custom_id?: string;
  @Bool({ optional: true }) custom?: boolean;
  @Needs('custom', true) @Bool({ optional: true }) max_mode?: boolean;
  @RequiredWhen('custom', false) @Text({ max: 5 }) gen_description?: string;
}
class Hook {
  @Text({ max: 9, optional: true, code: 'invalid_task_command' }) webhook?: string;
  @RequiredWith('webhook') @Text({ min: 2, max: 4, code: 'invalid_task_command' }) secret?: string;
}
class Song extends IntersectionType(Version, Hook) {}

function refusalOf(dto: Dto, body: unknown): Partial<GatewayError> {
  try {
    validatorOf(dto).parse(body);
  } catch (error) {
    if (error instanceof GatewayError) return { code: error.code, param: error.param };
    throw error;
  }
  throw new Error('accepted');
}
const invalid = (param: string | null) => ({ code: 'invalid_request', param });
const speech = { model: 'm', input: 'Hello' };

/** So many that each class has some that are valid. */
const RANDOM_BODIES = 1_000;
/** A valid value of each field, which random bodies have half of the time. */
const VALID: Readonly<Record<string, unknown>> = {
  ...speech,
  seed: 1,
  speed: 1,
  boost: true,
  language: 'en',
  format: 'wav',
  version: 'v6',
  custom_id: 'a',
  custom: false,
  max_mode: true,
  gen_description: 'slow',
  webhook: 'hook',
  secret: 'abc',
};

describe('CompiledValidator', () => {
  it('gives an instance of the class with defaults filled in and null fields left out (CONV-13)', () => {
    const body = validatorOf(Speech).parse({ ...speech, speed: null, seed: 5.0, format: null });

    expect(body).toBeInstanceOf(Speech);
    expect(Object.assign({}, body)).toEqual({ ...speech, seed: 5, format: 'mp3' });
  });

  it('makes instances of nested classes', () => {
    const { inputs } = validatorOf(Lines).parse({ inputs: [{ text: 'a', voice: 'b' }] });

    expect(inputs[0]).toBeInstanceOf(Line);
  });

  it.each([[null], [[]], ['text'], [5], [undefined], [true]])(
    'refuses %p, which is no object, without naming a field (CONV-12)',
    (body) => {
      expect(refusalOf(Speech, body)).toEqual(invalid(null));
    },
  );

  it('names an unknown field before any other fault (CONV-07)', () => {
    expect(refusalOf(Speech, { foo: 1 })).toEqual(invalid('foo'));
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toString'])(
    'treats an own key %s as an unknown field',
    (key) => {
      const body: unknown = JSON.parse(`{"model":"m","input":"a","${key}":{"speed":1}}`);

      expect(refusalOf(Speech, body)).toEqual(invalid(key));
    },
  );

  it('names nested faults by their dotted path (ERR-42)', () => {
    const line = { text: 'a', voice: 'b' };

    expect(refusalOf(Lines, { inputs: [line, { ...line, foo: 1 }] })).toEqual(
      invalid('inputs.1.foo'),
    );
    expect(refusalOf(Lines, { inputs: [line, { text: 'a' }] })).toEqual(invalid('inputs.1.voice'));
    expect(refusalOf(Lines, { inputs: [line], extra: { text: '', voice: 'b' } })).toEqual(
      invalid('extra.text'),
    );
    expect(refusalOf(Lines, { inputs: [line, [line]] })).toEqual(invalid('inputs'));
    expect(refusalOf(Lines, { inputs: [[]] })).toEqual(invalid('inputs'));
    expect(refusalOf(Lines, { inputs: [null] })).toEqual(invalid('inputs'));
    expect(refusalOf(Lines, { inputs: [line, line, line] })).toEqual(invalid('inputs'));
  });

  it('uses the code of the field where it has one', () => {
    expect(refusalOf(Speech, { model: 'm' })).toEqual({ code: 'invalid_input', param: 'input' });
    expect(refusalOf(Speech, { model: 'm', input: '' }).code).toBe('invalid_input');
    expect(refusalOf(Speech, { model: 'm', input: null }).code).toBe('invalid_input');
    expect(refusalOf(Speech, { model: 'm', input: ' ' }).code).toBe('invalid_request');
    expect(refusalOf(Speech, { model: 'm', input: 5 }).code).toBe('invalid_request');
    expect(refusalOf(Song, { webhook: 'https' })).toEqual({
      code: 'invalid_task_command',
      param: 'secret',
    });
  });

  it('checks fields against each other', () => {
    expect(refusalOf(Song, { version: 'v6', custom_id: 'a' })).toEqual(invalid('version'));
    expect(refusalOf(Song, { max_mode: true })).toEqual(invalid('max_mode'));
    expect(refusalOf(Song, { custom: false })).toEqual(invalid('gen_description'));
    expect(validatorOf(Song).parse({ custom: true, max_mode: true })).toBeInstanceOf(Song);
    expect(validatorOf(Song).parse({ max_mode: false, webhook: 'h', secret: 'abc' })).toEqual({
      max_mode: false,
      webhook: 'h',
      secret: 'abc',
    });
  });

  it('counts decimals however small the number is', () => {
    class Place {
      @Num({ min: -1, max: 3_600, decimals: 2 }) at!: number;
    }
    for (const at of [0, 0.01, 0.07, 0.29, 1.1, 3_599.99, 3_600, -0.01, -0]) {
      expect(validatorOf(Place).parse({ at })).toEqual({ at });
    }
    for (const at of [1e-7, -1e-7, 5e-324, 1.5e-7, 0.001, 1.005, 0.1 + 0.2, 3_599.999]) {
      expect([at, refusalOf(Place, { at })]).toEqual([at, invalid('at')]);
    }
  });

  it('names the invalid field and the reason', () => {
    expect(() => validatorOf(Lines).parse({ inputs: [{ text: 'a', voice: 'four' }] })).toThrow(
      'inputs.0.voice must have at most 3 characters.',
    );
    expect(() => validatorOf(Speech).parse({ ...speech, speed: '1' })).toThrow(
      'speed must be a number from 0.7 to 1.2.',
    );
  });

  it('names the invalid item of a list and the reason; the field is the list', () => {
    const inputs = [{ text: 'a', voice: 'b' }];
    const says = (fields: object) => () => validatorOf(Lines).parse({ inputs, ...fields });
    expect(refusalOf(Lines, { inputs, urls: ['a', 5] })).toEqual(invalid('urls'));
    expect(says({ urls: ['a', 5] })).toThrow('urls.1 must be a string.');
    expect(says({ urls: ['four', 5] })).toThrow('urls.0 must have at most 3 characters.');
    expect(says({ urls: ['a', ''] })).toThrow('urls.1 must not be empty.');
    expect(says({ indexes: [1, 9] })).toThrow('indexes.1 must be a whole number from 1 to 8.');
    expect(says({ urls: 5 })).toThrow('urls must be an array of 1 to 2 values.');
    expect(says({ inputs: [5] })).toThrow('inputs.0 must be an object.');
  });

  it('gives the same result as class-validator for random bodies', () => {
    const scalar = fc.oneof(
      fc.constantFrom<unknown>(null, undefined, '', ' ', 'v6', 'mp3', 'en', 'long text', 'a\tb'),
      fc.constantFrom<unknown>('\ud800', 0, 1, 5, 1.5, -1, 0.7, NaN, Infinity, true, false, {}),
    );
    const line = fc.record({ text: scalar, voice: scalar }, { requiredKeys: [] });
    const lines = fc.oneof(
      fc.constant([{ text: 'a', voice: 'b' }]),
      fc.array(fc.oneof(line, scalar), { maxLength: 3 }),
      line,
      scalar,
    );
    const list = fc.oneof(fc.constant(['mp3']), fc.array(scalar, { maxLength: 3 }), scalar);
    const bodyOf = (fields: Record<string, fc.Arbitrary<unknown>>) =>
      fc.record(fields, { requiredKeys: [] });
    const scalars = (...names: string[]) =>
      Object.fromEntries(names.map((name) => [name, fc.oneof(fc.constant(VALID[name]), scalar)]));
    const cases: [Dto, fc.Arbitrary<object>][] = [
      [Speech, bodyOf(scalars('model', 'seed', 'input', 'speed', 'boost', 'language', 'format'))],
      [Lines, bodyOf({ inputs: lines, extra: lines, indexes: list, urls: list, tools: list })],
      [
        Song,
        bodyOf(
          scalars(
            'version',
            'custom_id',
            'custom',
            'max_mode',
            'gen_description',
            'webhook',
            'secret',
          ),
        ),
      ],
    ];
    for (const [dto, bodies] of cases) {
      let validBodies = 0;
      fc.assert(
        fc.property(bodies, (body) => {
          const stock = validateSync(stockInstance(dto, body)).length === 0;
          let compiled = true;
          try {
            validatorOf(dto).parse(body);
          } catch {
            compiled = false;
          }
          expect(compiled).toBe(stock);
          if (stock) validBodies += 1;
        }),
        { numRuns: RANDOM_BODIES },
      );
      expect([dto.name, validBodies > 0]).toEqual([dto.name, true]);
    }
  });
});

/** What class-transformer makes of the body, with null as absent. */
function stockInstance(dto: Dto, body: object): object {
  const instance = new dto() as Record<string, unknown>;
  if (dto === Speech) instance.format = 'mp3';
  for (const [name, value] of Object.entries(body) as [string, unknown][]) {
    if (value === null || value === undefined) continue;
    instance[name] = ['inputs', 'extra'].includes(name) ? lineOf(value) : value;
  }
  return instance;
}

function lineOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map((item: unknown) => (Array.isArray(item) ? (item as unknown) : lineOf(item)));
  }
  return typeof value === 'object' && value !== null ? stockInstance(Line, value) : value;
}
