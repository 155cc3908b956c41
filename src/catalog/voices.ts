/** A premade voice. Its id is sent to the provider in exactly this case. */
export interface PremadeVoice {
  readonly id: string;
  readonly name: string;
  readonly gender: 'Male' | 'Female' | 'Neutral';
  readonly accent: 'American' | 'British' | 'Australian';
}

const voice = (
  name: string,
  id: string,
  gender: PremadeVoice['gender'],
  accent: PremadeVoice['accent'],
): PremadeVoice => ({ id, name, gender, accent });

/** The 21 premade voices of speech, dialogue and voice changer (API: GET /v1/voices). */
export const VOICES: readonly PremadeVoice[] = [
  voice('Adam', 'pNInz6obpgDQGcFmaJgB', 'Male', 'American'),
  voice('Alice', 'Xb7hH8MSUJpSbSDYk0k2', 'Female', 'British'),
  voice('Bella', 'hpp4J3VqNfWAUOO0d1Us', 'Female', 'American'),
  voice('Bill', 'pqHfZKP75CvOlQylNhV4', 'Male', 'American'),
  voice('Brian', 'nPczCjzI2devNBz1zQrb', 'Male', 'American'),
  voice('Callum', 'N2lVS1w4EtoT3dr4eOWO', 'Male', 'American'),
  voice('Charlie', 'IKne3meq5aSn9XLyUdCD', 'Male', 'Australian'),
  voice('Chris', 'iP95p4xoKVk53GoZ742B', 'Male', 'American'),
  voice('Daniel', 'onwK4e9ZLuTAKqWW03F9', 'Male', 'British'),
  voice('Eric', 'cjVigY5qzO86Huf0OWal', 'Male', 'American'),
  voice('George', 'JBFqnCBsd6RMkjVDRZzb', 'Male', 'British'),
  voice('Harry', 'SOYHLrjzK2X1ezoPC6cr', 'Male', 'American'),
  voice('Jessica', 'cgSgspJ2msm6clMCkdW9', 'Female', 'American'),
  voice('Laura', 'FGY2WhTYpPnrIDTdsKH5', 'Female', 'American'),
  voice('Liam', 'TX3LPaxmHKxFdv7VOQHJ', 'Male', 'American'),
  voice('Lily', 'pFZP5JQG7iQjIQuC4Bku', 'Female', 'British'),
  voice('Matilda', 'XrExE9yKIg1WjnnlVkGX', 'Female', 'American'),
  voice('River', 'SAz9YHcvj6GT2YYXdXww', 'Neutral', 'American'),
  voice('Roger', 'CwhRBWXzGAHq8TQ4Fs17', 'Male', 'American'),
  voice('Sarah', 'EXAVITQu4vr4xnSDxMaL', 'Female', 'American'),
  voice('Will', 'bIHbv24MWmeRgasZH58o', 'Male', 'American'),
];

/** Their first names. */
export const VOICE_NAMES: readonly string[] = VOICES.map(({ name }) => name);

const BY_LOWER_CASE = new Map(
  VOICES.flatMap((row) => [
    [row.id.toLowerCase(), row],
    [row.name.toLowerCase(), row],
  ]),
);

let aliases: ReadonlyMap<string, PremadeVoice> = new Map();
let ownNames: ReadonlySet<string> = new Set();

/** Voices of one model alone: their names at its providers, by the names that callers use. */
export type OwnVoices = Readonly<Record<string, string>>;

/**
 * Replaces the further names of voices, which the operator's overlay gives: voices by their names, and the names of voices
 * that only some models have.
 */
export function nameVoices(
  voiceByAlias: Readonly<Record<string, string>> = {},
  rows: readonly { readonly voices?: OwnVoices }[] = [],
): void {
  const own = rows.flatMap(({ voices = {} }) => Object.keys(voices));
  ownNames = new Set(own.map((name) => name.toLowerCase()));
  aliases = new Map(
    Object.entries(voiceByAlias).flatMap(([alias, name]) => {
      const voice = premadeVoice(name);
      return voice ? [[alias.toLowerCase(), voice]] : [];
    }),
  );
}

/** Finds a voice by id or first name, ignoring case (decision G-37). Spaces are not trimmed. Undefined for any other text. */
export function premadeVoice(text: string): PremadeVoice | undefined {
  return BY_LOWER_CASE.get(text.toLowerCase());
}

/** Whether any model has a voice of this name. */
export function isKnownVoice(text: string): boolean {
  return findVoice(text) !== undefined || ownNames.has(text.toLowerCase());
}

/** {@link premadeVoice}, or the voice that has the text as a further name. */
export function findVoice(text: string): PremadeVoice | undefined {
  return premadeVoice(text) ?? aliases.get(text.toLowerCase());
}
