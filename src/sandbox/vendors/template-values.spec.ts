import { describe, expect, it } from '@jest/globals';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { askedJob } from './template-values.js';
import type { TwinFile } from './twin-file.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
setFlagsFromString('--no-expose-gc');

const MB = 1024 * 1024;

function asked(template: TwinFile['submit']['body'], body: object) {
  const submit = { path: '/make', body: template };
  const bytes = Buffer.from(JSON.stringify(body));
  return askedJob({ submit }, [submit], bytes, undefined);
}

const inText = (template: string, text: string) => asked({ text: template }, { text });

describe('the values of a text', () => {
  const marks = ['size', 'resolution', 'audio', 'aspect_ratio', 'reference', 'seconds'];
  const template = `{{model}} B {{prompt}}${marks.map((name) => ` B {{${name}}}`).join('')} B `;

  it('are found in linear time in a prompt that is made of the fixed pieces', () => {
    const prompt = ' B B'.repeat(8_000);
    const begun = performance.now();
    const found = inText(template, `m B ${prompt} B 1x1 B low B true B 1:1 B mine B 7 B `);
    expect(performance.now() - begun).toBeLessThan(1_000);
    expect(found).toEqual({
      ...{
        prompt,
        lyrics: '',
        isInstrumental: false,
        seconds: 7,
        count: 1,
        reference: 'mine',
        echoed: {},
        width: 640,
        height: 640,
      },
    });
  });

  it.each([
    ['{{seconds}}s, {{reference}}, end', '7s, a, b, end', { seconds: 7, reference: 'a, b' }],
    ['{{prompt}}', '', { prompt: '' }],
    ['{{reference}}: {{prompt}}', 'mine: a: b', { prompt: 'a: b', reference: 'mine' }],
    ['{{prompt}} for {{seconds}}', 'a for b for 8', { prompt: 'a for b', seconds: 8 }],
  ])('of %s are found in %s', (form, text, values) => {
    expect(inText(form, text)).toMatchObject(values);
  });

  it.each([
    ['ab{{prompt}}ba', 'aba'],
    ['{{prompt}}--{{seconds}}', '-7'],
    ['{{prompt}} for {{seconds}}', '7'],
    [`{{prompt}}: {{reference}}`, `a: ${'b'.repeat(4_097)}`],
    ['fixed', 'other'],
  ])('of %s are not in %s', (form, text) => {
    const whole = JSON.stringify({ text });
    expect(inText(form, text)).toMatchObject({ prompt: whole, seconds: 5, reference: '' });
  });
});

describe('a body', () => {
  it('is told in a list of jobs as it was sent, without the fields that it had not', () => {
    const body = { text: '{{prompt}}', length: '{{seconds}}s', ratio: '{{aspect_ratio}}' };
    const same = {
      'input.text': '{{prompt}}',
      'input.length': { $field: 'seconds', as: 'integer' },
      'input.ratio': '{{aspect_ratio}}',
      source: 'api',
    };
    const submit = { path: '/make', body };
    const lookup = { path: '/jobs', items: 'jobs', id: 'id', made_at: 'at', same, absent: [] };
    const bytes = Buffer.from(JSON.stringify({ text: 'The sea', length: '7s' }));
    expect(askedJob({ submit, lookup }, [submit], bytes, undefined).echoed).toEqual({
      ...{ 'input.text': 'The sea', 'input.length': 7, source: 'api' },
    });
  });

  it('that asks for more than a minute gets a minute', () => {
    expect(asked({ length: '{{seconds}}' }, { length: '90' })).toMatchObject({ seconds: 60 });
    expect(() => asked({ length: '{{seconds}}' }, { length: '0' })).toThrow(/whole seconds/);
  });

  it.each([
    ['has the prompt where the template has it', 'text'],
    ['has it elsewhere', 'words'],
  ])('of 4 MB is not kept with its values, where it %s', (_where, name) => {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const kept = Array.from({ length: 20 }, () =>
      asked({ text: '{{prompt}}', own: '{{reference}}' }, { [name]: 'x'.repeat(4 * MB) }),
    );
    collectGarbage();
    expect((process.memoryUsage().heapUsed - before) / MB).toBeLessThan(20);
    expect(kept.map(({ prompt }) => prompt.length)).toEqual(kept.map(() => 32_000));
  });
});
