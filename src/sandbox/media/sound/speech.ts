import { type Phone, phoneOf } from './phones.js';
import { hashText, seededRandom } from '../seeded-random.js';
import type { FillSamples, Waveform } from './sound.js';

/** Looked up once, because they are called for every sample. */
const { PI, abs, cos, exp, max, min, sin } = Math;

const SECONDS_PER_CHARACTER = 0.065;
const MIN_SPEECH_SECONDS = 0.4;
/** Speech is at most this long, so that the longest text stays affordable. Longer texts are spoken faster. */
const MAX_SPEECH_SECONDS = 300;
/** Pitch and resonances are updated after this many samples. */
const CONTROL_BLOCK = 64;

/** A speaking voice. */
export interface SpeechDelivery {
  /** Pitch in Hz where nothing is stressed. */
  readonly pitchHz: number;
  /** Length of the vocal tract relative to an average one. Below 1 the speaker sounds bigger. */
  readonly tract: number;
  /** Speed; 1 is normal. */
  readonly speed: number;
  /** Decides the small variations of the melody. */
  readonly seed: number;
}

/** One character of a text and when it is spoken, in seconds. */
export interface SpokenCharacter {
  readonly character: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Audio that resembles speech. Its length follows the characters of the text. The same voice, text and seed always give
 * the same audio.
 */
export function speechSound(text: string, delivery: SpeechDelivery): Waveform {
  return speechOfLength(text, speechSeconds(text, delivery.speed), delivery);
}

/** As {@link speechSound}, but of the given length. */
export function speechOfLength(text: string, seconds: number, delivery: SpeechDelivery): Waveform {
  return { seconds, open: (sampleRate) => openSpeech(text, seconds, delivery, sampleRate) };
}

function speechSeconds(text: string, speed: number): number {
  const wanted = (Array.from(text).length * SECONDS_PER_CHARACTER) / speed;
  return min(MAX_SPEECH_SECONDS, max(MIN_SPEECH_SECONDS, wanted));
}

/** When each character of a text is spoken, if the whole text takes `seconds`. */
export function spokenCharacters(text: string, seconds: number): SpokenCharacter[] {
  const characters = Array.from(text);
  const lengths = characters.map((character) => phoneOf(character).length);
  const scale = seconds / max(1, sum(lengths));
  let end = 0;
  return characters.map((character, index) => {
    const start = end;
    end += (lengths[index] ?? 0) * scale;
    return { character, start, end };
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** A two-pole filter that amplifies one formant. */
class Resonator {
  private feedback = 0;
  private damping = 0;
  private gain = 0;
  private last = 0;
  private beforeLast = 0;

  tune(frequencyHz: number, bandwidthHz: number, sampleRate: number): void {
    const radius = exp((-PI * bandwidthHz) / sampleRate);
    this.feedback = 2 * radius * cos((2 * PI * frequencyHz) / sampleRate);
    this.damping = -radius * radius;
    this.gain = 1 - radius;
  }

  ring(input: number): number {
    const output = this.gain * input + this.feedback * this.last + this.damping * this.beforeLast;
    this.beforeLast = this.last;
    this.last = output;
    return output;
  }
}

function openSpeech(
  text: string,
  seconds: number,
  delivery: SpeechDelivery,
  sampleRate: number,
): FillSamples {
  const timeline = spokenCharacters(text, seconds);
  const random = seededRandom(delivery.seed ^ hashText(text));
  const melody = random() * PI * 2;
  const low = new Resonator();
  const high = new Resonator();
  const now = { first: 500, second: 1500, voice: 0, noise: 0 };
  let position = 0;
  let index = 0;
  let phase = 0;
  let step = 0;

  const glideTo = (target: Phone): void => {
    now.first += (target.first * delivery.tract - now.first) * 0.2;
    now.second += (target.second * delivery.tract - now.second) * 0.2;
    now.voice += (target.voice - now.voice) * 0.25;
    now.noise += (target.noise - now.noise) * 0.3;
    low.tune(min(now.first, sampleRate * 0.45), 90, sampleRate);
    high.tune(min(now.second, sampleRate * 0.45), 140, sampleRate);
  };
  const control = (): void => {
    const at = position / sampleRate;
    while (index < timeline.length - 1 && at >= (timeline[index]?.end ?? 0)) index++;
    glideTo(phoneOf(timeline[index]?.character ?? ' '));
    const contour = 1 + 0.12 * sin(melody + at * 2.1) + 0.05 * sin(at * 5.3 + melody * 2);
    step = (delivery.pitchHz * contour * (1 + 0.01 * random())) / sampleRate;
  };
  return (block) => {
    for (let i = 0; i < block.length; i++) {
      if (position % CONTROL_BLOCK === 0) control();
      phase += step;
      if (phase >= 1) phase -= 1;
      const source = now.voice * (1 - 2 * phase) + now.noise * (random() * 2 - 1);
      const voiced = 3.2 * low.ring(source) + 2.2 * high.ring(source);
      block[i] = (0.85 * voiced) / (1 + abs(voiced));
      position++;
    }
  };
}
