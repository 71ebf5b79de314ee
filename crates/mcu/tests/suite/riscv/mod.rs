mod instructions;
mod oracle;
