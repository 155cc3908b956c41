import { describe, expect, it } from '@jest/globals';
import { figuresOfBody, figuresOfHeaders } from './figures.js';

describe("a provider's own figures", () => {
  it.each([
    ['OpenRouter', { usage: { cost: 0.0012, is_byok: false } }, { 'usage.cost': 0.0012 }],
    ['xAI', { usage: { cost_in_usd_ticks: 500 } }, { 'usage.cost_in_usd_ticks': 500 }],
    ['TTAPI', { status: 'SUCCESS', data: { quota: '6' } }, { 'data.quota': '6' }],
    ['BFL', { cost: 4 }, { cost: 4 }],
    ['Kling', { data: { final_unit_deduction: '1.5' } }, { 'data.final_unit_deduction': '1.5' }],
    ['MiniMax', { extra_info: { usage_characters: 26 } }, { 'extra_info.usage_characters': 26 }],
  ])('are read as they came: %s', (_vendor, body, figures) => {
    expect(figuresOfBody(body)).toEqual(figures);
  });

  it.each([{}, { usage: null }, { usage: { cost: 'a lot' } }, { data: [], quota: {} }])(
    'are absent where there are none: %j',
    (body) => {
      expect(figuresOfBody(body)).toBeUndefined();
    },
  );

  it('are read in the headers of ElevenLabs', () => {
    expect(figuresOfHeaders({ 'character-cost': '120' })).toEqual({ 'character-cost': '120' });
    expect(figuresOfHeaders({ 'content-type': 'audio/mpeg' })).toBeUndefined();
  });
});
