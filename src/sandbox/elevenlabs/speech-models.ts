import { LANGUAGES_ALL, LANGUAGES_FLASH, LANGUAGES_V2 } from './languages.js';
import { refuseAudio } from './body-fields.js';

/** What a speech model accepts. */
export interface SpeechModel {
  readonly maxCharacters: number;
  readonly languages: ReadonlySet<string>;
  readonly canDialogue: boolean;
  /** Whether `previous_text` and `next_text` are accepted. */
  readonly takesContext: boolean;
  /** Credits per character, for the `character-cost` header. */
  readonly creditsPerCharacter: number;
}

const V3 = {
  languages: LANGUAGES_ALL,
  canDialogue: true,
  takesContext: false,
  creditsPerCharacter: 1,
};
const V2 = { canDialogue: false, takesContext: true, creditsPerCharacter: 1 };
const MODELS: ReadonlyMap<string, SpeechModel> = new Map([
  ['eleven_v4', { ...V3, maxCharacters: 10_000, takesContext: true }],
  ['eleven_v3', { ...V3, maxCharacters: 5000 }],
  ['eleven_multilingual_v2', { ...V2, maxCharacters: 10_000, languages: LANGUAGES_V2 }],
  [
    'eleven_flash_v2_5',
    { ...V2, maxCharacters: 40_000, languages: LANGUAGES_FLASH, creditsPerCharacter: 0.5 },
  ],
]);

/** The model with this id; 400 `model_not_found` when there is none. */
export function speechModelOf(id: string): SpeechModel {
  const model = MODELS.get(id);
  if (model !== undefined) return model;
  refuseAudio('model_not_found', `A model with model ID ${id} does not exist.`);
}

/** Throws 400 for a text that is too long for the model, or in a language that the model does not speak. */
export function checkSpeech(
  id: string,
  model: SpeechModel,
  characters: number,
  language?: string,
): void {
  if (characters > model.maxCharacters) {
    refuseAudio(
      'max_character_limit_exceeded',
      `This request's text has ${characters} characters and exceeds the character limit of ${model.maxCharacters} characters for model '${id}'.`,
    );
  }
  if (language !== undefined && !model.languages.has(language)) {
    refuseAudio(
      'unsupported_language',
      `Model '${id}' does not support the language_code ${language}.`,
    );
  }
}
