/** Codes as in ISO 639-1 and 639-3, grouped by the models that support them. */
const MULTILINGUAL_V2 =
  'en:eng ja:jpn zh:cmn de:deu hi:hin fr:fra ko:kor pt:por it:ita es:spa id:ind nl:nld tr:tur fil:fil pl:pol ' +
  'sv:swe bg:bul ro:ron ar:ara cs:ces el:ell fi:fin hr:hrv ms:msa sk:slk da:dan ta:tam uk:ukr ru:rus';
const FLASH_V2_5 = 'hu:hun no:nor vi:vie';
const V3 =
  'af:afr hy:hye as:asm az:aze be:bel bn:ben bs:bos ca:cat ceb:ceb ny:nya et:est gl:glg ka:kat gu:guj ha:hau ' +
  'he:heb is:isl ga:gle jv:jav kn:kan kk:kaz ky:kir lv:lav ln:lin lt:lit lb:ltz mk:mkd ml:mal mr:mar ne:nep ' +
  'ps:pus fa:fas pa:pan sr:srp sd:snd sl:slv so:som sw:swa te:tel th:tha ur:urd cy:cym';

function codes(...groups: string[]): ReadonlySet<string> {
  return new Set(groups.join(' ').split(/[ :]/));
}

/** Languages of the multilingual v2 models. */
export const LANGUAGES_V2 = codes(MULTILINGUAL_V2);
/** Languages of the flash v2.5 model. */
export const LANGUAGES_FLASH = codes(MULTILINGUAL_V2, FLASH_V2_5);
/** Languages of v3, v4 and of transcription. */
export const LANGUAGES_ALL = codes(MULTILINGUAL_V2, FLASH_V2_5, V3);

const toIso3 = new Map(
  `${MULTILINGUAL_V2} ${FLASH_V2_5} ${V3}`.split(' ').map((pair) => {
    const [two = '', three = ''] = pair.split(':');
    return [two, three];
  }),
);

/** The three-letter code of a language, which transcripts use. */
export function iso3Of(code: string): string {
  return toIso3.get(code) ?? code;
}

const SCRIPTS: readonly (readonly [script: RegExp, code: string])[] = [
  [/[\u3040-\u30ff]/, 'ja'],
  [/[\uac00-\ud7af]/, 'ko'],
  [/[\u4e00-\u9fff]/, 'zh'],
  [/[\u0400-\u04ff]/, 'ru'],
  [/[\u0600-\u06ff]/, 'ar'],
  [/[\u0900-\u097f]/, 'hi'],
  [/[\u0370-\u03ff]/, 'el'],
  [/\b(?:der|die|und|ist|nicht)\b/i, 'de'],
  [/\b(?:le|les|et|est|une)\b/i, 'fr'],
  [/\b(?:el|los|una|que|por)\b/i, 'es'],
];

/** The likely language of a text as ISO 639-1; English if nothing shows another. */
export function guessLanguage(text: string): string {
  return SCRIPTS.find(([script]) => script.test(text))?.[1] ?? 'en';
}
