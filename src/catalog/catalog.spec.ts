import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Catalog } from './catalog.js';
import type { ModelRow } from './model-row.js';
import { BUILT_IN_MODELS } from './models/built-in.models.js';
import type { ImageChoice } from './image-choices.js';
import {
  priceOfRequest,
  priceOfSeconds,
  priceOfText,
  quoteOfImages,
  quoteOfVideo,
} from './price-rule.js';
import type { JsonObject } from '../common/json-object.js';
import { findVoice, VOICES } from './voices.js';
import { DUBBING_LANGUAGES } from './languages.js';

const everything = new Catalog(BUILT_IN_MODELS, () => true);

function priceOf(id: string): ModelRow['price'] {
  const row = everything.find(id);
  if (!row) throw new Error(`no model ${id}`);
  return row.price;
}

describe('the built-in catalog', () => {
  it('has each id once', () => {
    expect(new Set(BUILT_IN_MODELS.map((row) => row.id)).size).toBe(BUILT_IN_MODELS.length);
  });

  it('sells 4 speech, 2 dialogue, 8 other audio, 2 image, 42 song, 3 video and 3 text models', () => {
    const count = (...operations: string[]) =>
      BUILT_IN_MODELS.filter((row) => operations.includes(row.operation)).length;
    expect(count('speech')).toBe(4);
    expect(count('dialogue')).toBe(2);
    expect(
      count(
        'transcription',
        'alignment',
        'voice-change',
        'isolation',
        'sound-effect',
        'composition',
        'dubbing',
      ),
    ).toBe(8);
    expect([count('image'), count('song'), count('video'), count('chat')]).toEqual([2, 42, 3, 3]);
  });

  it.each(['aud-v4', 'aud-v3', 'aud-multilingual-v2'])(
    'prices %s at 120 micro-USD per code point (BILL-18)',
    (id) => {
      expect(priceOf(id)).toEqual({ unit: 'code_point', microUsd: 120n });
    },
  );

  it('prices aud-flash-v2.5 at 60 micro-USD per code point (BILL-19)', () => {
    expect(priceOf('aud-flash-v2.5')).toEqual({ unit: 'code_point', microUsd: 60n });
  });

  it.each(['aud-v4-dialogue', 'aud-v3-dialogue'])(
    'prices %s at 120 micro-USD per code point (BILL-20)',
    (id) => {
      expect(priceOf(id)).toEqual({ unit: 'code_point', microUsd: 120n });
    },
  );

  it.each(['aud-transcribe-v2', 'aud-forced-alignment'])(
    'prices %s at 92 micro-USD per second (BILL-21)',
    (id) => {
      expect(priceOf(id)).toEqual({ unit: 'measured_second', microUsd: 92n });
    },
  );

  it.each([
    ['aud-multilingual-sts-v2', 'measured_second'],
    ['aud-english-sts-v2', 'measured_second'],
    ['aud-voice-isolator', 'measured_second'],
    ['aud-sound-effects-v2', 'requested_second'],
  ])('prices %s at 3000 micro-USD per second (BILL-22)', (id, unit) => {
    expect(priceOf(id)).toEqual({ unit, microUsd: 3_000n });
  });

  it('prices music at 3750 micro-USD per second (BILL-23)', () => {
    expect(priceOf('aud-music-v2.5')).toEqual({ unit: 'requested_second', microUsd: 3_750n });
  });

  it('prices dubbing at 12500 micro-USD per second (BILL-24)', () => {
    expect(priceOf('aud-dubbing-v1')).toEqual({ unit: 'measured_second', microUsd: 12_500n });
  });

  it('prices images at 10000 and 20000 micro-USD (BILL-25)', () => {
    expect(priceOf('gen-image-2')).toEqual({ unit: 'request', microUsd: 10_000n });
    expect(priceOf('gen-image-2-all')).toEqual({ unit: 'request', microUsd: 20_000n });
  });

  it('prices 42 song models in whole micro-USD, twelve of them with Max mode at twice the price (BILL-26, G-30)', () => {
    const prices = BUILT_IN_MODELS.flatMap((row) => (row.operation === 'song' ? [row.price] : []));
    const maxMode = prices.filter((price) => price.maxModeMicroUsd !== undefined);
    expect(prices).toHaveLength(42);
    expect(maxMode).toHaveLength(12);
    for (const price of maxMode) expect(price.maxModeMicroUsd).toBe(price.microUsd * 2n);
    const sorted = prices.map((price) => price.microUsd).sort((a, b) => (a < b ? -1 : 1));
    expect([sorted[0], sorted.at(-1)]).toEqual([1_200n, 1_440_000n]);
  });

  it('never names a vendor in an id', () => {
    for (const row of BUILT_IN_MODELS) expect(row.id).toMatch(/^(aud|song|tune|gen|vid)-/);
  });
});

describe('price rules', () => {
  it('are exact integers: 1,234 code points cost 148080, 33,333 on flash 1999980 (BILL-27, G-30)', () => {
    expect(priceOfText({ unit: 'code_point', microUsd: 120n }, 1_234)).toBe(148_080n);
    expect(priceOfText({ unit: 'code_point', microUsd: 60n }, 33_333)).toBe(1_999_980n);
  });

  it('price seconds and requests by multiplying', () => {
    expect(priceOfSeconds({ unit: 'measured_second', microUsd: 92n }, 600n)).toBe(55_200n);
    expect(
      priceOfRequest({ unit: 'request', microUsd: 75_000n, maxModeMicroUsd: 150_000n }, true),
    ).toBe(150_000n);
  });

  it('know a video length or say so', () => {
    const price = { unit: 'video', microUsdBySeconds: { '5': 250_000n } } as const;
    expect(quoteOfVideo({ price }, '5')?.amountMicroUsd).toBe(250_000n);
    expect(quoteOfVideo({ price }, '6')).toBeUndefined();
    expect(quoteOfVideo({ price }, 'toString')).toBeUndefined();
  });

  it('price a video per second where the constants of its row choose a resolution and a sound', () => {
    const price = {
      unit: 'video',
      microUsdBySeconds: { '5': 250_000n },
      perSecond: [
        { resolution: '720p', sound: false, microUsdPerSecond: 30_000n },
        { resolution: '720p', sound: true, microUsdPerSecond: 45_000n },
      ],
    } as const;
    const quote = (constants: JsonObject) => quoteOfVideo({ price, terms: { constants } }, '5');
    const basis = { unit: 'second', quantity: 5, isEstimated: false };
    expect(quote({ resolution: '720p' })).toEqual({
      amountMicroUsd: 150_000n,
      basis: { ...basis, unitPrice: '30000' },
      choice: { seconds: '5' },
    });
    expect(quote({ resolution: '720p', sound: true })).toEqual({
      amountMicroUsd: 225_000n,
      basis: { ...basis, unitPrice: '45000' },
      choice: { seconds: '5' },
    });
    expect(quote({ resolution: '1080p' })?.amountMicroUsd).toBe(250_000n);
    const chosen = (resolution: string, sound?: boolean, constants: JsonObject = {}) =>
      quoteOfVideo({ price, terms: { constants } }, '5', { resolution, sound })?.amountMicroUsd;
    expect([chosen('720p'), chosen('720p', true), chosen('1080p')]).toEqual([
      150_000n,
      225_000n,
      250_000n,
    ]);
    expect(chosen('1080p', false, { resolution: '720p', audio: true })).toBe(225_000n);
    expect(quoteOfVideo({ price, terms: { constants: { resolution: '720p' } } }, '6')).toBe(
      undefined,
    );
  });

  it('price an image by the quality of its row and the size that the provider gets', () => {
    const byQualitySize = [
      { quality: 'high', size: '1024x1024', microUsd: 167_000n },
      { quality: 'high', size: '1536x1024', microUsd: 250_000n },
      { quality: 'low', size: '1024x1024', microUsd: 11_000n },
    ];
    const price = { unit: 'request', microUsd: 60_000n, byQualitySize } as const;
    const amount = (constants: JsonObject, size?: string) =>
      quoteOfImages({ price, terms: { constants } }, { size }, 1).amountMicroUsd;
    expect(amount({ quality: 'high' }, '1024x1024')).toBe(167_000n);
    expect(amount({ quality: 'high' }, '1536x1024')).toBe(250_000n);
    expect(amount({ quality: 'low', size: '1024x1024' }, '1536x1024')).toBe(11_000n);
    expect(amount({ quality: 'low' }, '1536x1024')).toBe(60_000n);
    expect(amount({ quality: 'high' })).toBe(60_000n);
    expect(amount({}, '1024x1024')).toBe(60_000n);
  });

  it('price images by the quality and the size that the caller chooses', () => {
    const byQualitySize = [
      { quality: 'high', size: '1024x1024', microUsd: 167_000n },
      { quality: 'high', size: '1536x1024', microUsd: 250_000n },
      { quality: 'low', size: '1024x1024', microUsd: 11_000n },
    ];
    const price = { unit: 'request', microUsd: 60_000n, byQualitySize } as const;
    const amount = (choice: ImageChoice, count = 1) =>
      quoteOfImages({ price }, choice, count).amountMicroUsd;
    expect(amount({ quality: 'low', size: '1024x1024' }, 3)).toBe(33_000n);
    expect(amount({ quality: 'high', size: '1536x1024' })).toBe(250_000n);
    expect(amount({ quality: 'high' })).toBe(250_000n);
    expect(amount({ quality: 'none' })).toBe(60_000n);
    expect(quoteOfImages({ price: { ...price, factorPermille: 500n } }, {}, 3)).toMatchObject({
      amountMicroUsd: 90_000n,
      basis: { unit: 'image', quantity: 3, unitPrice: '60000' },
    });
  });
});

describe('Catalog', () => {
  const [first, second, third] = BUILT_IN_MODELS as [ModelRow, ModelRow, ModelRow];

  it('lists only models with a route that can run, but resolves the others too', () => {
    const catalog = new Catalog([first, second], (route) => route.upstreamModel === 'gpt-5');
    expect(catalog.list()).toEqual([first]);
    expect(catalog.find(second.id)).toEqual(second);
    expect(catalog.routesOf(second.id)).toEqual([]);
    expect(catalog.idle()).toEqual([second]);
  });

  it('does not find a disabled model', () => {
    const catalog = new Catalog([{ ...third, enabled: false }], () => true);
    expect(catalog.find(third.id)).toBeUndefined();
    expect(catalog.list()).toEqual([]);
  });
});

describe('findVoice', () => {
  it('finds all 21 voices by id and by name in any case', () => {
    expect(VOICES).toHaveLength(21);
    for (const voice of VOICES) {
      for (const text of [voice.id, voice.name]) {
        for (const spelled of [text, text.toLowerCase(), text.toUpperCase()]) {
          expect(findVoice(spelled)?.id).toBe(voice.id);
        }
      }
    }
  });

  it.each(['alloy', 'echo', 'nova', '', ' adam', 'Adam ', 'Adam Smith', 'constructor'])(
    'does not know %p',
    (text) => {
      expect(findVoice(text)).toBeUndefined();
    },
  );
});

describe('dubbing languages', () => {
  it('are 32 distinct lowercase codes', () => {
    expect(new Set(DUBBING_LANGUAGES).size).toBe(32);
    for (const code of DUBBING_LANGUAGES) expect(code).toMatch(/^[a-z]{2,3}$/);
  });
});

describe('money code', () => {
  it('has no number with a fraction in any price file', () => {
    for (const file of ['chat', 'built-in', 'audio', 'song', 'tune']) {
      const source = readFileSync(new URL(`./models/${file}.models.ts`, import.meta.url), 'utf8');
      const code = source.replace(/'[^']*'/g, '').replace(/\/\*[\s\S]*?\*\//g, '');
      expect(code).not.toMatch(/\d\.\d/);
    }
  });
});
