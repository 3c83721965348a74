import hooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["src/api/schema.d.ts", "node_modules"] },
  {
    files: ["src/**/*.{ts,tsx}"],
    extends: [tseslint.configs.strict],
    plugins: { "react-hooks": hooks },
    rules: {
      "react-hooks/rules-of-hooks": "error",
      "react-hooks/exhaustive-deps": "error",
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      // A house of small files: what does not fit is two things.
      "max-lines": ["error", { max: 250 }],
      // Trusted Types would stop it anyway.
      "no-restricted-syntax": ["error", { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: "Texts are text." }],
    },
  },
);
