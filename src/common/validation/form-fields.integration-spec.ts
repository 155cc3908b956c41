import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { IntersectionType } from '@nestjs/swagger';
import { validatorOf } from './compiled-validator.js';
import { Bool, LanguageCode, ModelId, Num, Text, Int } from './fields.js';
import { jsonOfForm } from './form-fields.js';

class Options {
  @Text({ max: 100 }) text!: string;
  @Bool({ optional: true }) diarize?: boolean;
  @Num({ min: 0, max: 2, optional: true }) temperature?: number;
  @Int({ min: 1, max: 32, optional: true }) num_speakers?: number;
  @LanguageCode({ optional: true }) language?: string;
}
class Model {
  @ModelId() model!: string;
}
class Upload extends IntersectionType(Model, Options) {}

const upload = { model: 'm', text: 'a' };

describe('jsonOfForm', () => {
  it('converts by the declared type of the field and leaves text alone', () => {
    const form = { ...upload, text: '42', diarize: 'true', temperature: '0.5', num_speakers: '2' };

    expect(jsonOfForm(Upload, form)).toEqual({
      model: 'm',
      text: '42',
      diarize: true,
      temperature: 0.5,
      num_speakers: 2,
    });
  });

  it.each([
    ['diarize', 'TRUE'],
    ['diarize', 'yes'],
    ['diarize', '1'],
    ['temperature', '0x1'],
    ['temperature', ' 1'],
    ['temperature', 'NaN'],
    ['num_speakers', '2.5'],
    ['num_speakers', 'true'],
    ['text', ''],
    ['model', ''],
    ['file_url', 'a'],
    ['file_url', ''],
  ])('leaves %s = %j for the validator to reject', (field, text) => {
    const body = jsonOfForm(Upload, { ...upload, [field]: text });

    expect(() => validatorOf(Upload).parse(body)).toThrow(field);
  });

  it.each(['diarize', 'temperature', 'num_speakers', 'language'])(
    'treats an empty %s, which is optional, as omitted',
    (field) => {
      expect(jsonOfForm(Upload, { ...upload, [field]: '' })).toEqual(upload);
    },
  );

  it.each([
    ['True', true],
    ['False', false],
  ])("takes Python's %s", (text, diarize) => {
    expect(jsonOfForm(Upload, { ...upload, diarize: text })).toEqual({ ...upload, diarize });
  });

  it('keeps a part named __proto__ an unknown field', () => {
    const form = JSON.parse('{"model":"m","__proto__":"x"}') as Record<string, string>;

    expect(() => validatorOf(Upload).parse(jsonOfForm(Upload, form))).toThrow('__proto__');
  });
});

describe('a list of a form', () => {
  class Urls {
    @Text({ max: 10, list: { min: 1, max: 3 } }) urls!: string[];
    @Text({ max: 10, optional: true }) name?: string;
  }

  it.each([
    ['one', ['one']],
    [['one'], ['one']],
    [
      ['one', 'two'],
      ['one', 'two'],
    ],
  ])('takes %j', (urls, expected) => {
    expect(jsonOfForm(Urls, { urls })).toEqual({ urls: expected });
  });

  it('is left for the validator to reject if the field accepts a single text', () => {
    const body = jsonOfForm(Urls, { urls: 'a', name: ['b', 'c'] });
    expect(() => validatorOf(Urls).parse(body)).toThrow('name must be a string');
  });
});
