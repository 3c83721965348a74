import { createContext, useContext } from "react";
import { en } from "./en";

export type Key = keyof typeof en;
/** All texts of a language: a missing key does not compile. */
export type Texts = Record<Key, string>;
export type Language = "en" | "zh";

export type Values = Record<string, string | number>;
/** Says a text in the reader's language, with {names} filled in. */
export type Say = (key: Key, values?: Values) => string;

/** Fills in {names}. {count|node|nodes} is a word that depends on a number: the first for one, the second for others. */
export function fill(text: string, values: Values | undefined): string {
  if (!values) return text;
  return text.replace(/\{(\w+)(?:\|([^|{}]*)\|([^|{}]*))?\}/g, (whole, name: string, one?: string, many?: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return one === undefined || many === undefined ? String(value) : Number(value) === 1 ? one : many;
  });
}

export function speaker(texts: Texts): Say {
  return (key, values) => fill(texts[key], values);
}

/** What the server says in English, in another language; undefined where there is nothing better than its own words. */
export interface Translation {
  /** What a reason means. */
  meaning: (reason: string | undefined) => string | undefined;
  /** What a check asks. */
  check: (id: string) => string | undefined;
  /** What to do, or why a check was not made. */
  step: (text: string) => string | undefined;
}

export const untranslated: Translation = { meaning: () => undefined, check: () => undefined, step: () => undefined };

export interface Speech extends Translation {
  language: Language;
  say: Say;
  setLanguage: (language: Language) => void;
}

export const SpeechContext = createContext<Speech>({ language: "en", say: speaker(en), ...untranslated, setLanguage: () => undefined });

export function useSay(): Say {
  return useContext(SpeechContext).say;
}

export function useLanguage(): Speech {
  return useContext(SpeechContext);
}

/** The tag of the language as pages and dates need it. */
export const tags: Record<Language, string> = { en: "en", zh: "zh-Hans" };
