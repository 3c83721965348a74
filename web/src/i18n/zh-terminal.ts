import type { terminal as english } from "./en-terminal";

export const terminal: Record<keyof typeof english, string> = {
  "tab.terminal": "终端",
  "terminal.shell": "{name} 中的 shell",
  "terminal.console": "控制台",
  "terminal.open": "打开",
  "terminal.opening": "正在打开",
  "terminal.again": "重新打开",
  "terminal.leave": "结束",
  "terminal.keys": "按 Shift Tab 离开",
  "terminal.about": "你键入的内容会发给程序。服务器日志只记录你打开过它，不记录你键入的内容。",
  "terminal.done": "已结束。",
  "terminal.exited": "已结束，退出码 {code}。",
  "terminal.failed": "无法运行。",
  "terminal.left": "你已结束它。",
  "terminal.refused": "无法打开。",
  "terminal.stopped": "服务器已停止。重新打开即可。",
  "terminal.closed": "连接已结束（代码 {code}）。",
  "terminal.forbidden": "你无权打开：需要对 {right} 的 create 权限。",
  "terminal.notRunning": "容器 {name} 没有运行。",
  "terminal.off": "虚拟机没有运行，阶段为 {phase}。",
};
