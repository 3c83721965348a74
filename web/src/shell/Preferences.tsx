import { type ReactNode, useEffect, useMemo, useState } from "react";
import { Icon } from "../components/Icon";
import { arrives } from "../components/later";
import { tellBroken } from "../components/toasts";
import { en } from "../i18n/en";
import { type Language, SpeechContext, speaker, tags, type Texts, untranslated, useLanguage, useSay } from "../i18n";

const languageKey = "windlass.language";
const themeKey = "windlass.theme";

function firstLanguage(): Language {
  const kept = localStorage.getItem(languageKey);
  if (kept === "en" || kept === "zh") return kept;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

/** Gives the page its language. Chinese is loaded by those who read it. */
export function Speaking({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(firstLanguage);
  const [texts, setTexts] = useState<Texts | undefined>(language === "en" ? en : undefined);
  const [translation, setTranslation] = useState(untranslated);
  useEffect(() => {
    let current = true;
    if (language === "en") { setTexts(en); setTranslation(untranslated); }
    // A language that does not arrive leaves the reader with the one that is there, and is tried again the next time.
    else void arrives(() => import("../i18n/zh")).then((module) => { if (current) { setTexts(module.zh); setTranslation(module.zhTranslation); } }, (error: unknown) => { if (current) { setLanguage("en"); tellBroken(speaker(en), error); } });
    document.documentElement.lang = tags[language];
    return () => { current = false; };
  }, [language]);
  const speech = useMemo(() => ({ language, setLanguage: (to: Language) => { localStorage.setItem(languageKey, to); setLanguage(to); }, say: speaker(texts ?? en), ...translation }), [language, texts, translation]);
  return texts ? <SpeechContext value={speech}>{children}</SpeechContext> : null;
}

export function LanguageButton() {
  const { language, setLanguage, say } = useLanguage();
  return (
    <button type="button" className="btn quiet" lang={language === "en" ? "zh-Hans" : "en"} onClick={() => setLanguage(language === "en" ? "zh" : "en")}>
      {say("lang.other")}
    </button>
  );
}

export function isDark(): boolean {
  const theme = document.documentElement.dataset["theme"];
  return theme ? theme === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
}

export function ThemeButton() {
  const say = useSay();
  const [dark, setDark] = useState(isDark);
  const change = () => {
    const next = dark ? "light" : "dark";
    document.documentElement.dataset["theme"] = next;
    localStorage.setItem(themeKey, next);
    setDark(!dark);
  };
  return <button type="button" className="btn quiet icon" aria-label={say("theme.switch")} title={say("theme.switch")} onClick={change}><Icon name={dark ? "sun" : "moon"} /></button>;
}
