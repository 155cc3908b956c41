import { hashText, seededRandom } from '../seeded-random.js';
import type { FillSamples, Waveform } from './sound.js';

/** Looked up once, because they are called for every sample. */
const { PI, max, min, sin } = Math;

const SECONDS_PER_CHARACTER = 0.065;
const MIN_SPEECH_SECONDS = 0.4;
/** Speech is at most this long, so that the longest text stays affordable. Longer texts are spoken faster. */
const MAX_SPEECH_SECONDS = 300;
/** Pitch and phone are updated after this many samples. */
const CONTROL_BLOCK = 64;

/** A speaking voice. */
export interface SpeechDelivery {
  /** Pitch in Hz where nothing is stressed. */
  readonly pitchHz: number;
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

function openSpeech(
  text: string,
  seconds: number,
  { pitchHz, seed }: SpeechDelivery,
  sampleRate: number,
): FillSamples {
  const timeline = spokenCharacters(text, seconds);
  const random = seededRandom(seed ^ hashText(text));
  const melody = random() * PI * 2;
  const now = { voice: 0, noise: 0, colour: 0 };
  let position = 0;
  let index = 0;
  let phase = 0;
  let step = 0;

  const control = (): void => {
    const at = position / sampleRate;
    while (index < timeline.length - 1 && at >= (timeline[index]?.end ?? 0)) index++;
    const target = phoneOf(timeline[index]?.character ?? ' ');
    now.voice += (target.voice - now.voice) * 0.25;
    now.noise += (target.noise - now.noise) * 0.3;
    now.colour += (target.colour - now.colour) * 0.2;
    const contour = 1 + 0.12 * sin(melody + at * 2.1) + 0.05 * sin(at * 5.3 + melody * 2);
    step = (2 * PI * pitchHz * contour * (1 + 0.01 * random())) / sampleRate;
  };
  return (block) => {
    for (let i = 0; i < block.length; i++) {
      if (position % CONTROL_BLOCK === 0) control();
      phase += step;
      const overtones = now.colour * sin(3 * phase) + (1 - now.colour) * sin(7 * phase);
      const voiced = now.voice * (0.5 * sin(phase) + 0.35 * overtones);
      block[i] = voiced + 0.3 * now.noise * (random() * 2 - 1);
      position++;
    }
  };
}

/** How one written character sounds. */
interface Phone {
  /** Amplitude of the voice, and of noise. */
  readonly voice: number;
  readonly noise: number;
  /** 0 for a bright vowel, 1 for a dark one. */
  readonly colour: number;
  /** Relative to other characters. */
  readonly length: number;
}

/**
 * The phone of a character. An accented letter sounds as its base letter; a letter of another script always has the
 * same phone.
 */
function phoneOf(character: string): Phone {
  const letter = character.normalize('NFD').charAt(0).toLowerCase();
  if (/[.,;:!?。、！？…]/u.test(letter)) return { voice: 0, noise: 0, colour: 0.5, length: 3 };
  if (!/[\p{L}\p{N}]/u.test(letter)) return { voice: 0, noise: 0, colour: 0.5, length: 0.7 };
  if (/[szxcfhptkq]/.test(letter)) return { voice: 0, noise: 0.5, colour: 0.5, length: 0.9 };
  if (/[bdgvjwrlmn]/.test(letter)) return { voice: 0.45, noise: 0.03, colour: 0.7, length: 0.8 };
  return { voice: 1, noise: 0, colour: (hashText(letter) % 5) / 4, length: 1.3 };
}
